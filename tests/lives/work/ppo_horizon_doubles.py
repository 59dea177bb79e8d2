# /// expect
# run = "check"
# vram = "3.75GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps", "later-steps", "worst-batches"]
# open = "stage next-epoch, expected steps or later-steps or worst-batches"
# step = 585
# line = 50
# form = "for range over updates, rollout, epochs and minibatches inside; the horizon is a function of the update"
# need_gib = [4.5, 5.3]
# why = "from update 72 on the horizon is 64, and the observations of a rollout are 64 x 512 x 16,384 x 4 B = 2 GiB; the buffer of the update before is there until the new one is complete: 1 + 2 GiB in update 72, 2 + 2 GiB in update 73, with 3.3 free; 73 updates are 73 x 2 x 4 = 584 steps"
# ///
"""PPO on vectorized environments; the horizon of a rollout doubles with the progress of the training."""

import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class VectorEnv:
    """Stands for a simulator that lives on the GPU."""

    def __init__(self, num_envs, obs_dim, device):
        self.shape, self.device = (num_envs, obs_dim), device

    def reset(self):
        return torch.zeros(self.shape, device=self.device)

    def step(self, action):
        obs = torch.randn(self.shape, device=self.device)
        return obs, torch.randn(self.shape[0], device=self.device), torch.zeros(self.shape[0], device=self.device)


class Agent(nn.Module):
    def __init__(self, obs_dim, actions, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor, self.critic = nn.Linear(hidden, actions), nn.Linear(hidden, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return Categorical(logits=self.actor(hidden), validate_args=False), self.critic(hidden).squeeze(-1)


class RolloutBuffer:
    def __init__(self, horizon, num_envs, obs_dim, device):
        self.obs = torch.zeros(horizon, num_envs, obs_dim, device=device)
        self.actions = torch.zeros(horizon, num_envs, dtype=torch.long, device=device)
        self.logprobs = torch.zeros(horizon, num_envs, device=device)
        self.rewards = torch.zeros(horizon, num_envs, device=device)
        self.dones = torch.zeros(horizon, num_envs, device=device)
        self.values = torch.zeros(horizon + 1, num_envs, device=device)

    def advantages(self, gamma=0.99, lam=0.95):
        advantages = torch.zeros_like(self.rewards)
        last = 0.0
        for t in reversed(range(len(self.rewards))):
            alive = 1.0 - self.dones[t]
            delta = self.rewards[t] + gamma * self.values[t + 1] * alive - self.values[t]
            advantages[t] = last = delta + gamma * lam * alive * last
        return advantages


class PPO:
    def __init__(self, args):
        self.args, self.device = args, torch.device("cuda")
        self.env = VectorEnv(args.num_envs, args.obs_dim, self.device)
        self.agent = Agent(args.obs_dim, args.actions).to(self.device)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.lr, eps=1e-5)
        self.obs = self.env.reset()

    def horizon(self, update):
        return self.args.base_horizon * 2 ** (update // self.args.double_every)

    @torch.no_grad()
    def collect(self, horizon):
        buffer = RolloutBuffer(horizon, self.args.num_envs, self.args.obs_dim, self.device)
        for t in range(horizon):
            policy, value = self.agent(self.obs)
            action = policy.sample()
            buffer.obs[t], buffer.actions[t] = self.obs, action
            buffer.logprobs[t], buffer.values[t] = policy.log_prob(action), value
            self.obs, buffer.rewards[t], buffer.dones[t] = self.env.step(action)
        buffer.values[horizon] = self.agent(self.obs)[1]
        return buffer

    def update(self, buffer):
        advantages = buffer.advantages()
        returns = (advantages + buffer.values[:-1]).flatten()
        obs, actions = buffer.obs.flatten(0, 1), buffer.actions.flatten()
        old, advantages = buffer.logprobs.flatten(), advantages.flatten()
        size = len(obs) // self.args.minibatches
        for _ in range(self.args.update_epochs):
            order = torch.randperm(len(obs))
            for start in range(0, len(obs), size):
                picked = order[start : start + size].to(self.device)
                policy, values = self.agent(obs[picked])
                ratio = (policy.log_prob(actions[picked]) - old[picked]).exp()
                gain = torch.min(ratio * advantages[picked], ratio.clamp(0.8, 1.2) * advantages[picked])
                loss = -gain.mean() + 0.5 * (values - returns[picked]).square().mean() - 0.01 * policy.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()

    def learn(self):
        for update in range(self.args.total_updates):
            buffer = self.collect(self.horizon(update))
            self.update(buffer)
            if update % 20 == 0:
                print(update, buffer.rewards.mean().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-envs", type=int, default=512)
    parser.add_argument("--obs-dim", type=int, default=16_384)
    parser.add_argument("--actions", type=int, default=6)
    parser.add_argument("--total-updates", type=int, default=80)
    parser.add_argument("--base-horizon", type=int, default=8)
    parser.add_argument("--double-every", type=int, default=24)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-4)
    PPO(parser.parse_args()).learn()
