"""The GPUs for which a build of PyTorch has kernels."""

import unittest

from oomph.agent.process.kernels import has_kernels

BUILT_FOR = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]


class KernelsTest(unittest.TestCase):
    """Of a list of architectures and a GPU."""

    def test_a_gpu_of_the_same_generation_has_kernels(self):
        cases = [((6, 1), False), ((7, 0), False), ((7, 5), True), ((8, 9), True), ((9, 0), True), ((10, 0), True), ((12, 0), True)]
        for capability, expected in cases:
            self.assertEqual(has_kernels(capability, BUILT_FOR), expected, capability)

    def test_intermediate_code_is_compiled_for_later_gpus(self):
        cases = [(["sm_75", "compute_75"], (12, 0), True), (["sm_75", "compute_80"], (7, 0), False), (["sm_90a"], (9, 0), True), ([], (6, 1), True)]
        for built_for, capability, expected in cases:
            self.assertEqual(has_kernels(capability, built_for), expected, built_for)


if __name__ == "__main__":
    unittest.main()
