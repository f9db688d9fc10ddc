/* The well-behaved core as it is. */
#include "fake.h"
