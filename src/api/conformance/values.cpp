#include "api/conformance/compare.hpp"
#include "api/conformance/device_run.hpp"
#include "api/conformance/index_watch.hpp"

namespace rlx::conformance {

namespace {

// A library or a hand-written kernel had a part in it, so that forcing the common path gives another program.
bool is_native_record(const DeviceRun& r, const Target& target) {
  return r.outcome == Outcome::passed && !target.interprets() && r.provider != "generated" && !r.provider.empty();
}

void judge_values(const Expected& e, const DeviceRun& r, std::string_view device, const std::string& path,
                  const Registry& registry, Collector& out) {
  const CaseOf value = case_of(*e.instance, "value", device, path);
  // Samples of what is clamped or dropped are what checked mode reports.
  if (out.options().compile.checked && r.outcome != Outcome::refused &&
      !stays_in_range(*e.instance, e.instance->in, registry)) {
    const bool reported = r.outcome == Outcome::failed && r.reason.find("is out of range") != std::string::npos;
    return out.judge(value, reported ? "" : "checked mode does not report an index out of range; " + r.reason);
  }
  if (r.outcome != Outcome::passed) return out.add(value, r.outcome, r.reason);
  out.judge(value, difference(r.out, e.values, e.instance->sample));
  if (!e.instance->sample.expect.empty())
    out.judge(case_of(*e.instance, "literal", device, path), literal_difference(r.out, e.instance->sample));
}

}  // namespace

void check_values(std::span<const Expected> expected, const std::shared_ptr<runtime::Device>& device,
                  const runtime::Catalog& catalog, Collector& out) {
  const std::string& name = device->target().device;
  std::vector<const Instance*> instances;
  for (const Expected& e : expected) instances.push_back(e.instance);
  const std::vector<DeviceRun> runs = run_on_device(instances, device, catalog, out.options().compile);
  if (!device->computes()) {
    for (std::size_t k = 0; k < runs.size(); ++k)
      out.add(case_of(*instances[k], "plan", name), runs[k].outcome, runs[k].reason);
    return;
  }
  std::vector<std::size_t> native;
  std::vector<const Instance*> again;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    judge_values(expected[k], runs[k], name, {}, catalog.operators, out);
    if (out.options().compile.preference != Preference::force_common && is_native_record(runs[k], device->target()) &&
        instances[k]->op->meaning() != Meaning::extern_)
      native.push_back(k), again.push_back(instances[k]);
  }
  CompileOptions common = out.options().compile;
  common.preference = Preference::force_common;
  common.per_operator.clear();
  const std::vector<DeviceRun> decomposed = run_on_device(again, device, catalog, common);
  for (std::size_t k = 0; k < native.size(); ++k) {
    judge_values(expected[native[k]], decomposed[k], name, "common", catalog.operators, out);
    if (decomposed[k].outcome == Outcome::passed)
      out.judge(case_of(*again[k], "decomposition", name),
                difference(runs[native[k]].out, decomposed[k].out, again[k]->sample));
  }
}

}  // namespace rlx::conformance
