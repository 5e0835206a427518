#include "context.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace rlx::oneapi {
namespace {

std::string without_nul(std::string s) {
  while (!s.empty() && s.back() == '\0') s.pop_back();
  return s;
}

bool contains_ignoring_case(const std::string& text, const std::string& part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;  // stays 0 where the loader finds none, which it reports as an error
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> all(count);
  check(clGetPlatformIDs(count, all.data(), nullptr), "clGetPlatformIDs");
  return all;
}

cl_device_id first_with_fp64(cl_platform_id p) {
  cl_uint count = 0;
  if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) return nullptr;
  std::vector<cl_device_id> all(count);
  if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, count, all.data(), nullptr) != CL_SUCCESS) return nullptr;
  for (cl_device_id d : all) {
    cl_device_fp_config fp64 = 0;
    cl_bool usable = CL_FALSE, compiler = CL_FALSE;
    clGetDeviceInfo(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, nullptr);
    clGetDeviceInfo(d, CL_DEVICE_AVAILABLE, sizeof usable, &usable, nullptr);
    clGetDeviceInfo(d, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, nullptr);
    if (fp64 != 0 && usable && compiler) return d;
  }
  return nullptr;
}

}  // namespace

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS)
    throw DeviceError("OpenCL", code, std::string(call) + ": OpenCL error " + std::to_string(code));
}

std::string device_text(cl_device_id d, cl_device_info what) {
  std::size_t bytes = 0;
  check(clGetDeviceInfo(d, what, 0, nullptr, &bytes), "clGetDeviceInfo");
  std::string s(bytes, '\0');
  check(clGetDeviceInfo(d, what, bytes, s.data(), nullptr), "clGetDeviceInfo");
  return without_nul(std::move(s));
}

std::string platform_text(cl_platform_id p, cl_platform_info what) {
  std::size_t bytes = 0;
  check(clGetPlatformInfo(p, what, 0, nullptr, &bytes), "clGetPlatformInfo");
  std::string s(bytes, '\0');
  check(clGetPlatformInfo(p, what, bytes, s.data(), nullptr), "clGetPlatformInfo");
  return without_nul(std::move(s));
}

Found find_device() {
  const char* wanted = std::getenv("RLX_ONEAPI_PLATFORM");
  const std::vector<cl_platform_id> all = platforms();
  Found found;
  std::string names;
  for (cl_platform_id p : all) {
    const std::string name = platform_text(p, CL_PLATFORM_NAME);
    names += (names.empty() ? "" : ", ") + name;
    if (found.device || (wanted && !contains_ignoring_case(name, wanted))) continue;
    found.device = first_with_fp64(p);
    found.platform = p;
  }
  found.looked_for =
      "OpenCL platforms: " + std::to_string(all.size()) + " found" + (names.empty() ? "" : " (" + names + ")");
  if (wanted) found.looked_for += ", RLX_ONEAPI_PLATFORM = " + std::string(wanted);
  if (!found.device && !all.empty()) found.looked_for += "; no device among them that has fp64 and a compiler";
  return found;
}

Context::Context(const Found& found) : device(found.device) {
  if (!device) throw DeviceError("OpenCL", CL_DEVICE_NOT_FOUND, "no OpenCL device: " + found.looked_for);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(found.platform), 0};
  cl_int code = CL_SUCCESS;
  context = OwnedContext(clCreateContext(properties, 1, &device, nullptr, nullptr, &code));
  check(code, "clCreateContext");
  queue = OwnedQueue(clCreateCommandQueue(context.get(), device, 0, &code));
  check(code, "clCreateCommandQueue");
  max_allocation = static_cast<std::int64_t>(device_fact<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  global_memory = static_cast<std::int64_t>(device_fact<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  local_memory = static_cast<std::int64_t>(device_fact<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  max_group_threads = static_cast<std::int64_t>(device_fact<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  build_options = "-cl-std=CL1.2";
  if (device_fact<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    build_options += " -cl-fp32-correctly-rounded-divide-sqrt";
  description = platform_text(found.platform, CL_PLATFORM_VERSION) + "; " + device_text(device, CL_DEVICE_NAME) +
                "; driver " + device_text(device, CL_DRIVER_VERSION) + "; " + build_options;
}

static OwnedProgram built(const Context& context, const std::string& text) {
  cl_int code = CL_SUCCESS;
  const char* source = text.c_str();
  const std::size_t length = text.size();
  OwnedProgram program(clCreateProgramWithSource(context.context.get(), 1, &source, &length, &code));
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(program.get(), 1, &context.device, context.build_options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  std::size_t bytes = 0;
  clGetProgramBuildInfo(program.get(), context.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  clGetProgramBuildInfo(program.get(), context.device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  throw DeviceError("OpenCL", code, "clBuildProgram: OpenCL error " + std::to_string(code) + "\n" + log.c_str());
}

std::shared_ptr<const OwnedProgram> Context::code_of(const std::string& source) {
  return codes.get(source, [&] { return std::make_shared<const OwnedProgram>(built(*this, source)); });
}

}  // namespace rlx::oneapi
