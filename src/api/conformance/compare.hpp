// Comparison of results, in units of the result's scale.
#pragma once
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/sample.hpp>

#include <string>

namespace rlx::conformance {

/// Distance of 1 from the next number of the type (of a complex one's parts); 0 for integers and bool.
double unit_of(DType t);
/// What a sample allows for a result of this dtype: its own bound, else 8 units; 1 for the types of 8 bits, of which 8
/// units would allow anything. Integers and bool are exact.
double tolerance(const SampleBase& s, DType t);

/// Empty where |got - expected| <= rtol * max|expected| for every element, with NaN and infinities in the same places;
/// else what differs most. With rtol 0 also the signs of zeros are equal. Parts of complex numbers are compared one by
/// one.
std::string difference(const HostTensor& got, const HostTensor& expected, double rtol);
/// The same for any value under the sample's tolerance: structures of sparse values are equal, resources are not
/// compared.
std::string difference(const HostValue& got, const HostValue& expected, const SampleBase& s);
std::string difference(const HostValues& got, const HostValues& expected, const SampleBase& s);
/// Against SampleBase::expect, which says nothing of tokens.
std::string literal_difference(const HostValues& got, const SampleBase& s);

}  // namespace rlx::conformance
