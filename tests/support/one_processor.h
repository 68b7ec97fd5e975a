/* one_processor.h: a thread that shares one processor with the threads that it starts. */
#ifndef TEST_ONE_PROCESSOR_H
#define TEST_ONE_PROCESSOR_H

/* Calls run(user) in a new thread, which may use one processor; OpenMP's threads in it are new and have the same one.
 * On systems other than Linux it may use all. */
void test_on_one_processor(void (*run)(void *user), void *user);

#endif
