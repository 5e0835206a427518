// What the printer must know of a language. A dialect is a constant of plain data that a backend (or a folder named
// after the language) defines; the printer names no device and no language.
//
// All text is a *template*: "{x}", with one character between the braces, is replaced by what the field's comment says
// x is. Other braces stay, so that helper functions are written as they read.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rlx::emit_source {

inline constexpr DTypeSet any_dtype = storable;

/// How one element type is spelled. A type whose `value` is wider than itself (f16 held in a float) has a `round`,
/// which the printer applies wherever the IR names a value, unless the spelling is marked exact.
struct Element {
  DType dtype;
  std::string_view value;        ///< Type of a name in a body.
  std::string_view memory;       ///< Type of an element of a buffer.
  std::string_view suffix = "";  ///< Of a literal.
  std::string_view computing =
      "";  ///< {U}: unsigned integer in which integer arithmetic wraps without being undefined.
  std::string_view unsigned_same = "";         ///< {V}: unsigned integer of the same width.
  std::string_view load = "{p}[{i}]";          ///< {p} pointer, {i} index, {A} address space.
  std::string_view store = "{p}[{i}] = {0};";  ///< {0} the value. Empty: the language cannot store it without a race.
  std::string_view local_store = "{p}[{i}] = {0};";
  std::string_view round = "";           ///< {0} an expression of type `value`.
  std::string_view to_bits = "({0})";    ///< {0} a value; gives an unsigned integer of the element's width (bitcast).
  std::string_view from_bits = "({0})";  ///< {0} such an integer.
  std::string_view pair = "";            ///< Complex only: literal of the parts {0} and {1}.
};

/// One scalar operator. The first row whose `op`, `in` and `out` fit the instance is used. `in` is tested against the
/// dtype of the *last* operand, which for select and clamp is the interesting one. Templates: {0} {1} {2} operands
/// (names, so they may be repeated); {T} value type of the result, {S} of the last operand; {R} and {D} the names of
/// these dtypes; {C} value type of the real parts of {T}; {U}, {V} and {W} computing type, unsigned type of the same
/// width, and width in bits of the last operand; {e} {m} bits of reduce_precision. compare has one row a direction:
/// "compare.lt".
struct Spelling {
  std::string_view op;
  DTypeSet in;
  std::string_view text;
  DTypeSet out = any_dtype;
  bool exact = false;  ///< The result needs no rounding: it is one of the operands, or their sign changed.
};

/// A function printed before the kernels when its name occurs in them or in another printed helper. Where `dtypes` is
/// not empty, there is one for each: name and text are templates of {D} {T} {S} {C} {U} {V} {W} of that type.
struct Helper {
  std::string_view name;
  DTypeSet dtypes;
  std::string_view text;
};

struct Dialect {
  std::string_view name;                                 ///< "opencl c", for errors.
  std::span<const Element> elements;                     ///< A type that is absent is refused.
  std::span<const std::span<const Spelling>> spellings;  ///< Tables, searched in order.
  std::span<const std::span<const Helper>> helpers;      ///< Tables; a helper stands after those it calls.

  std::string_view preamble;  ///< First lines of every program.
  std::string_view kernel;    ///< {n} name, {a} parameters, {x} {y} {z} threads of a group.
  std::string_view kernel_end = "}";
  std::string_view parameter;             ///< {k} number of the buffer, {M} its memory type.
  std::string_view size_parameter;        ///< {v} name of a 64-bit number that each launch hands over.
  std::string_view check_parameter = "";  ///< Added to a kernel that contains checks. Empty: checks are refused.
  std::string_view bind = "";             ///< Statement that makes pointer {p} of buffer {k}; {M} as above.
  std::array<std::string_view, 3> group_index{}, thread_index{}, global_index{};
  std::string_view guard = "if ({0} >= {1}) return;";
  std::string_view define = "const {T} {v} = {0};";
  std::string_view define_mutable = "{T} {v} = {0};";
  std::string_view assign = "{v} = {0};";
  std::string_view declare = "{T} {v};";
  std::string_view loop = "for ({T} {v} = {0}; {v} < {1}; {v} += {s}) {";
  std::string_view branch = "if ({0}) {";
  std::string_view otherwise = "} else {";
  std::string_view end = "}";
  std::string_view local_array = "";                     ///< {M} {p} {n} elements. Empty: no local memory.
  std::string_view barrier = "";                         ///< Empty: no barrier.
  std::string_view check = "";                           ///< {0} condition, {1} index, {k} number of the check, from 1.
  std::string_view global_space = "", local_space = "";  ///< What {A} stands for.
  bool hex_floats = true;           ///< Literals 0x1.8p+0; otherwise as many decimal digits as are exact.
  std::int64_t group_threads = 64;  ///< Threads of a group under range and mdrange.
};

}  // namespace rlx::emit_source
