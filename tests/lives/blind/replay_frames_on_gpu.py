# /// expect
# run = "check"
# vram = "3.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps"]
# open = "stage evaluation, expected steps"
# step = 368
# line = 42
# form = "for range over environment steps, learns every fourth, deque with maxlen"
# need_gib = [4.8, 5.1]
# why = "sixteen observations are 16 x 4 x 84 x 84 x 4 B = 1.72 MiB, eleven of them in a segment of 20 MiB; the buffer keeps 2,500: 4.44 GiB, with 3.05 GiB free: 156 segments, of which two hold networks and Adam (5 x 6.9 MiB) and two the samples of an update (2 x 6.9 MiB); 152 segments are full after 1,672 observations, and the update of pass 1,672, the 368th from pass 204 on, joins its sample. New observations fill the gaps that a sample leaves, so the refused request is that of a sample"
# ///
"""DQN with a target network; the replay buffer keeps its frames on the GPU, in single precision."""

import argparse
import random
from collections import deque

import torch
from torch import nn


class QNetwork(nn.Module):
    def __init__(self, actions, pixels=4 * 84 * 84):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(pixels, 64), nn.ReLU(), nn.Linear(64, actions))

    def forward(self, frames):
        return self.net(frames)


class ReplayBuffer:
    def __init__(self, capacity, num_envs):
        self.memory = deque(maxlen=capacity // num_envs)

    def push(self, obs, action, reward, next_obs):
        self.memory.append((obs, action, reward, next_obs))

    def sample(self, groups):
        picked = random.sample(self.memory, groups)
        return [torch.cat(column) for column in zip(*picked)]


class FrameEnv:
    """Stands for sixteen games whose frames are preprocessed on the GPU."""

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def observe(self):
        return torch.rand(self.num_envs, 4, 84, 84, device="cuda")

    def step(self, action):
        return self.observe(), torch.zeros(self.num_envs, device="cuda")


def linear_schedule(start, end, duration, t):
    return max(end, start + (end - start) * t / duration)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--total-timesteps", type=int, default=48_000)
    parser.add_argument("--buffer-size", type=int, default=40_000)
    parser.add_argument("--learning-starts", type=int, default=3200)
    parser.add_argument("--train-frequency", type=int, default=4)
    parser.add_argument("--target-frequency", type=int, default=100)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.99)
    return parser.parse_args()


def main():
    args = parse_args()
    random.seed(1)
    env = FrameEnv(args.num_envs)
    network, target = QNetwork(6).cuda(), QNetwork(6).cuda()
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    buffer = ReplayBuffer(args.buffer_size, args.num_envs)

    obs = env.observe()
    iterations = args.total_timesteps // args.num_envs
    for global_step in range(iterations):
        epsilon = linear_schedule(1.0, 0.05, iterations // 2, global_step)
        if random.random() < epsilon:
            action = torch.randint(6, (args.num_envs,), device="cuda")
        else:
            with torch.no_grad():
                action = network(obs).argmax(dim=1)
        next_obs, reward = env.step(action)
        buffer.push(obs, action, reward, next_obs)
        obs = next_obs

        if global_step * args.num_envs > args.learning_starts and global_step % args.train_frequency == 0:
            old, actions, rewards, new = buffer.sample(args.groups)
            with torch.no_grad():
                wanted = rewards + args.gamma * target(new).max(dim=1).values
            value = network(old).gather(1, actions.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if global_step % args.target_frequency == 0:
            for mine, theirs in zip(target.parameters(), network.parameters()):
                mine.data.copy_(theirs.data)
    print("frames", len(buffer.memory) * args.num_envs)


if __name__ == "__main__":
    main()
