// A device whose kernels are C99, compiled by the system's C compiler and loaded: what a backend is beside its dialect.
#pragma once
#include "c_dialect.hpp"
#include "compile/emit_source/emit.hpp"
#include "compile/emit_source/scalar.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/backend.hpp>

#include <dlfcn.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace rlx::test {

class CChecks final : public runtime::CheckRecord {
 public:
  explicit CChecks(std::vector<lir::CheckAttrs> what) : what_(std::move(what)) {}
  runtime::CheckReport take() override {
    if (record[0] == 0) return {};
    const runtime::CheckReport first{what_.at(static_cast<std::size_t>(record[0] - 1)), record[1]};
    record[0] = 0;
    return first;
  }
  long long record[2] = {0, 0};

 private:
  std::vector<lir::CheckAttrs> what_;
};

class CModule final : public runtime::Module {
 public:
  CModule(const Graph& lir, const emit_source::Dialect& dialect) : emitted_(emit_source::emit(lir, dialect)) {
    if (emitted_.kernels.empty()) return;
    const std::string stem = folder_ + "/kernels";
    std::ofstream(stem + ".c") << emitted_.text;
    // Contraction would make results depend on how the compiler groups a product and a sum.
    const std::string command = "cc -std=c99 -O1 -w -ffp-contract=off -fno-strict-aliasing -shared -fPIC -o " + stem +
                                ".so " + stem + ".c -lm 2> " + stem + ".log";
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(stem + ".log");
      throw DeviceError("cc", 1, std::string(std::istreambuf_iterator<char>(log), {}) + "\n" + emitted_.text);
    }
    library_ = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw DeviceError("dlopen", 1, dlerror());
    for (const emit_source::EmittedKernel& k : emitted_.kernels)
      functions_.push_back(reinterpret_cast<Function>(dlsym(library_, k.name.c_str())));
  }
  ~CModule() override {
    if (library_) dlclose(library_);
    std::filesystem::remove_all(folder_);
  }
  void launch(std::size_t index, std::span<const runtime::KernelBuffer> buffers,
              runtime::CheckRecord* checks) const override {
    std::vector<char*> addresses;
    for (const runtime::KernelBuffer& b : buffers)
      addresses.push_back(static_cast<char*>(b.allocation->handle) + b.byte_offset);
    const auto& groups = emitted_.kernels[index].geometry.groups;
    const std::vector<long long> sizes(emitted_.kernels[index].sizes.begin(), emitted_.kernels[index].sizes.end());
    const long long points[] = {groups[0], groups[1], groups[2]};
    CChecks unread(emitted_.checks);
    functions_[index](addresses.data(), points, sizes.data(),
                      (checks ? static_cast<CChecks*>(checks) : &unread)->record);
  }
  std::unique_ptr<runtime::CheckRecord> check_record() const override {
    return emitted_.checks.empty() ? nullptr : std::make_unique<CChecks>(emitted_.checks);
  }

 private:
  using Function = void (*)(char**, const long long*, const long long*, long long*);
  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rlx_c_XXXXXX").string();
    if (!mkdtemp(name.data())) throw DeviceError("mkdtemp", errno, name);
    return name;
  }
  std::string folder_ = make_folder();
  emit_source::EmittedProgram emitted_;
  void* library_ = nullptr;
  std::vector<Function> functions_;
};

class CDevice final : public runtime::Device {
 public:
  CDevice() {
    target_.device = "c";
    target_.description = "the system's C compiler";
    target_.compute = storable;
    target_.expresses = [](const Instance& i) { return emit_source::expresses(c99::dialect, i); };
  }
  const Target& target() const override { return target_; }
  std::span<const KernelRecord> records() const override { return {}; }
  bool host_addressable() const override { return true; }
  runtime::Allocation allocate(std::int64_t bytes) override {
    void* memory = std::aligned_alloc(64, static_cast<std::size_t>((bytes + 127) / 64 * 64));
    if (!memory) throw MemoryError("C memory", static_cast<std::uint64_t>(bytes), 0);
    return {memory, bytes};
  }
  void release(const runtime::Allocation& a) noexcept override { std::free(a.handle); }
  void upload(const runtime::Allocation& to, std::int64_t at, const void* from, std::int64_t bytes) override {
    if (bytes) std::memcpy(static_cast<char*>(to.handle) + at, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const runtime::Allocation& from, std::int64_t at, std::int64_t bytes) override {
    if (bytes) std::memcpy(to, static_cast<const char*>(from.handle) + at, static_cast<std::size_t>(bytes));
  }
  void copy(const runtime::Allocation& to, std::int64_t to_at, const runtime::Allocation& from, std::int64_t from_at,
            std::int64_t bytes) override {
    if (bytes == 0) return;
    std::memmove(static_cast<char*>(to.handle) + to_at, static_cast<const char*>(from.handle) + from_at,
                 static_cast<std::size_t>(bytes));
  }
  void synchronize() override {}
  std::unique_ptr<runtime::Module> compile(const Graph& lir) override {
    return std::make_unique<CModule>(lir, c99::dialect);
  }

 private:
  Target target_;
};

}  // namespace rlx::test
