// What the shapes of arguments tell of the symbols in declared types.
#pragma once
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/shape.hpp>

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace rlx {

/// Binds what the arguments' shapes tell together: a symbol that is a dimension, or the only one not yet known of a
/// dimension that is linear in it, such as n of f64[2*n+1]. What does not fit is left to bind_symbols.
RLX_API void solve_symbols(std::span<const Type> declared, std::span<const HostValue> actual, Bindings& bindings);
/// The symbols that solve_symbols binds from arguments of these types, whichever fit.
RLX_API std::set<std::string> solvable_symbols(std::span<const Type> declared);

/// Refuses values that are outside of their symbols' bounds or no multiples of their divisors. ArgumentError.
RLX_API void check_values(const SymbolTable& symbols, const Bindings& values);

/// Refuses results of `op` that for some values of symbols have other types than the graph states: what infer says may
/// depend on a condition that holds for most values. VerifyError, constraint "type".
RLX_API void check_stated(std::string_view op, const Types& results, const Types& stated);

/// Values of the symbols that make `declared` equal to `actual`, the type of a host value: it is what a quantized
/// `declared` stores. Throws ArgumentError where they cannot be equal, or what is told does not make them so.
RLX_API void bind_symbols(const Type& declared, const Type& actual, const std::string& what, Bindings& bindings);
/// As of the type of `actual`, which is what a value says that it is: the arrays of a sparse one are checked to be
/// those of the type, too.
RLX_API void bind_symbols(const Type& declared, const HostValue& actual, const std::string& what, Bindings& bindings);

}  // namespace rlx
