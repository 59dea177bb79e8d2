# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "optimizer"
# first_finding = ["optimizer-state", "need-exceeds-device"]
# lines = [46]
# why = "24 x 4096^2 x 4 B = 1536 MiB of weights and as much of gradients; centered RMSprop with momentum has three buffers (4608 MiB): 7680 + 410 of 8192 MiB before the step's own averages of another 1536 MiB: 9626"
# ///
"""Actor-critic on a simulated warehouse; RMSprop with the settings of an old paper (centered, with momentum)."""

import torch
from torch import nn

STATE, ACTIONS = 4096, 12


class ActorCritic(nn.Module):
    def __init__(self, depth=24):
        super().__init__()
        body = []
        for _ in range(depth):
            body += [nn.Linear(STATE, STATE, bias=False), nn.ReLU()]
        self.body = nn.Sequential(*body)
        self.policy = nn.Linear(STATE, ACTIONS)
        self.value = nn.Linear(STATE, 1)

    def forward(self, state):
        h = self.body(state)
        return self.policy(h), self.value(h).squeeze(-1)


class Agent:
    def __init__(self):
        with torch.device("cuda"):
            self.net = ActorCritic()
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=1e-4, alpha=0.95, momentum=0.95, centered=True)

    def learn(self, state, action, target):
        logits, value = self.net(state)
        advantage = (target - value).detach()
        policy_loss = -(nn.functional.log_softmax(logits, -1).gather(1, action[:, None]).squeeze(1) * advantage).mean()
        loss = policy_loss + 0.5 * (target - value).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


agent = Agent()
for update in range(12):
    state = torch.randn(128, STATE, device="cuda")
    action = torch.randint(0, ACTIONS, (128,), device="cuda")
    print(update, agent.learn(state, action, torch.randn(128, device="cuda")))
