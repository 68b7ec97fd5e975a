/* pin.h: threads bound to a CPU each. */
#ifndef TOOL_PIN_H
#define TOOL_PIN_H

enum { PIN_CPUS = 1024 };

/* The numbers of the CPUs that the calling thread may use, increasing, of which there are *n; 0: the system does not
 * say. */
void pin_list(int *cpu, int *n);

/* Binds the calling thread to this CPU.  0, or an errno. */
int pin_thread(int cpu);

#endif
