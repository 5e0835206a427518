// What the text of a graph may name: the operators of the library and of its families, which are what users parse with,
// and the toys, which have attributes of every kind.
#pragma once
#include "ir/toy_ops.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/ops/register.hpp>
#include <rlx/splat/register.hpp>

namespace rlx::fuzz {

inline Registry every_operator() {
  Registry all = toy::registry();
  ops::register_ops(all);
  lir::register_ops(all);
  linalg::register_ops(all);
  splat::register_ops(all);
  return all;
}

}  // namespace rlx::fuzz
