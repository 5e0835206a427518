#include "vector_bits.hpp"

#include "machine.hpp"

namespace rlx::cpu {

int vector_bits(const Target& t) { return machine_of(t).vector_bits(); }

}  // namespace rlx::cpu
