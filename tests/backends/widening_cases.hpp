// Every elementwise primitive on f16, bf16, f32 and c64, one program each: what a target says that it computes them in
// against the text of the kernels that are made for it.
#pragma once
#include "catalog.hpp"
#include "compile/widening.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ir/op.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace rlx::test {

/// `text` gives the code of a program's kernels, in which 64-bit floats are called double. Gives how many were
/// compared.
inline int expect_widening_as_stated(const Target& target, const std::function<std::string(const Program&)>& text) {
  int compared = 0;
  for (const Op* op : registry().all()) {
    if (!op->has_trait(Trait::elementwise) || !op->is_primitive() || op->has_trait(Trait::lir)) continue;
    for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::c64}) {
      if (compile::is_exact(op->name(), t)) continue;
      Graph g("one");
      Builder b(g, registry());
      Values in;
      for (const Operand& o : op->operands()) {
        if (!o.dtypes.contains(t)) break;
        in.push_back(b.input(tensor(t, {4}), "x" + std::to_string(in.size())));
      }
      if (in.size() != op->operands().size()) continue;
      b.output(b.emit(op->name(), in, op->default_attrs())[0], "y");
      SCOPED_TRACE(std::string(op->name()) + " on " + std::string(name(t)));
      const Program p = compile_program(g, registry(), target, {}, {});
      const DType said = target.computes_in(op->name(), t);
      const bool wide = said == DType::f64 || said == DType::c128;
      EXPECT_EQ(text(p).find("double") != std::string::npos, wide);
      const std::vector<std::string> note{"widened: " + std::string(name(t)) + " computed in " +
                                          std::string(name(said))};
      EXPECT_EQ(p.report.rows.at(0).notes, said == t ? std::vector<std::string>{} : note);
      ++compared;
    }
  }
  return compared;
}

}  // namespace rlx::test
