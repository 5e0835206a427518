// The text form of graphs at every level: print, parse, print gives the same bytes.
//
//   rlx 1
//   graph main(%0 "x": f32[n,4], %1 "A": csr<f64,i32>[n,n]{nnz}) symbols(n in [1, 1024] mod 8, nnz) {
//     %2 = exp(%0) : f32[n,4]
//     %3, %4 = while(%2, %1) {carried = 2} (
//       region(%5: f32[n,4], %6: csr<f64,i32>[n,n]{nnz}) {
//         return %5
//       }
//     ) : f32[n,4], csr<f64,i32>[n,n]{nnz}
//     %7 = linalg.lu(%4) @cpu.klu : resource<lu,f64>[n,n] loc("model.cpp":12)
//     return %3 "y", %7 "factor"
//   }
//
// A node: results, operator, operands, record, attributes that differ from the default, regions, types of the results,
// note(...), location; all but operator and operands may be absent. Written by hand, values may have any names
// (letters, digits, '_', '.'), unique in the whole text, and an input or output whose quoted name is left out is called
// as its value.
// `#` starts a comment.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rlx {

/// Version of the text form; the first line of every text is "rlx <version>".
inline constexpr int text_version = 1;

struct PrintOptions {
  /// And notes. False for keys: where a node was written, and what is told of it, changes nothing in what it means.
  bool locations = true;
};
RLX_API std::string print(const Graph& g, PrintOptions options = {});
/// The number under which print shows each value; -1 for values that no region defines.
RLX_API std::vector<std::int32_t> print_numbers(const Graph& g);

enum class TextLines : std::uint8_t {
  forget,    ///< A node's location is what the text states, so that printing again gives the same text.
  remember,  ///< A node without a stated location gets `file` and its line in the text, for later messages.
};
/// Reads what print writes. Every node is checked as Builder checks it, and must have the types that the text states;
/// regions may use values of outer ones, which verify() refuses outside LIR. Throws FormatError (syntax, unknown
/// operator, missing or repeated value, another version) or VerifyError; both name `file`, the line and the byte.
RLX_API Graph parse(std::string_view text, const Registry& registry, std::string file = "",
                    TextLines lines = TextLines::forget);

}  // namespace rlx
