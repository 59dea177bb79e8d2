# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [39]
# keeps_mib = 32
# allocates = [21]
# full_at = [173, 181]
# why = "each session's suspended generator holds its cache of 8 x 2 x 1024 x 512 x 4 B = 32 MiB; 260 sessions are 8.1 GiB"
# ///
"""A chat service in one process: a session is a generator that waits for its next turn, and no session is closed."""

import torch

LAYERS, LENGTH, WIDTH, USERS = 8, 1024, 512, 260


def session(user):
    cache = torch.zeros(LAYERS, 2, LENGTH, WIDTH, device="cuda")
    for position in range(LENGTH):
        cache[:, :, position] = torch.randn(LAYERS, 2, WIDTH, device="cuda")
        yield f"{user}: token {position}"


class Service:
    def __init__(self):
        self.sessions = {}

    def reply(self, user):
        if user not in self.sessions:
            self.sessions[user] = session(user)
        return next(self.sessions[user])


service = Service()
replies = []
for number in range(USERS):
    replies.append(service.reply(f"user {number}"))
print(replies[-1])
