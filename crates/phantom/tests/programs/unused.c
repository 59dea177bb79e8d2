// A program that uses no CUDA: nothing is said and nothing is written.
int main(void) { return 0; }
