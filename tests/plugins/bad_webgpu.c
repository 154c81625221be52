/* bad_webgpu.c - libraries that look like webgpu.h and are not to be used. BAD says which: STRANGER of no known generation, LACKING
 * a function, CRASHING in the first call, LYING with a struct that nobody knows. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define STRANGER 0
#define LACKING 1
#define CRASHING 2
#define LYING 3
#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *wgpuCreateInstance(const void *descriptor);
void *wgpuCreateInstance(const void *descriptor) {
  (void)descriptor;
  if (BAD == CRASHING) abort();
  return NULL;
}

#if BAD != STRANGER
EXPORTED uint32_t wgpuGetInstanceCapabilities(uint32_t *capabilities);
uint32_t wgpuGetInstanceCapabilities(uint32_t *capabilities) {
  (void)capabilities;
  return 1;
}
#define NOTHING(name)             \
  EXPORTED void wgpu##name(void); \
  void wgpu##name(void) {}
NOTHING(DeviceTick)
NOTHING(DeviceGetAdapterInfo)
#endif

#if BAD == CRASHING || BAD == LYING
NOTHING(InstanceRelease)
NOTHING(InstanceProcessEvents)
NOTHING(InstanceWaitAny)
NOTHING(InstanceRequestAdapter)
NOTHING(AdapterRelease)
NOTHING(AdapterGetInfo)
NOTHING(AdapterInfoFreeMembers)
NOTHING(AdapterGetLimits)
NOTHING(AdapterHasFeature)
NOTHING(AdapterRequestDevice)
NOTHING(DeviceDestroy)
NOTHING(DeviceRelease)
NOTHING(DeviceGetQueue)
NOTHING(DevicePushErrorScope)
NOTHING(DevicePopErrorScope)
NOTHING(DeviceCreateBuffer)
NOTHING(DeviceCreateShaderModule)
NOTHING(DeviceCreateBindGroupLayout)
NOTHING(DeviceCreatePipelineLayout)
NOTHING(DeviceCreateComputePipeline)
NOTHING(DeviceCreateBindGroup)
NOTHING(DeviceCreateCommandEncoder)
NOTHING(BufferDestroy)
NOTHING(BufferRelease)
NOTHING(BufferMapAsync)
NOTHING(BufferGetConstMappedRange)
NOTHING(BufferUnmap)
NOTHING(ShaderModuleRelease)
NOTHING(BindGroupLayoutRelease)
NOTHING(PipelineLayoutRelease)
NOTHING(ComputePipelineRelease)
NOTHING(BindGroupRelease)
NOTHING(CommandEncoderBeginComputePass)
NOTHING(CommandEncoderClearBuffer)
NOTHING(CommandEncoderCopyBufferToBuffer)
NOTHING(CommandEncoderFinish)
NOTHING(CommandEncoderRelease)
NOTHING(CommandBufferRelease)
NOTHING(ComputePassEncoderSetPipeline)
NOTHING(ComputePassEncoderSetBindGroup)
NOTHING(ComputePassEncoderDispatchWorkgroups)
NOTHING(ComputePassEncoderEnd)
NOTHING(ComputePassEncoderRelease)
NOTHING(QueueRelease)
NOTHING(QueueWriteBuffer)
NOTHING(QueueSubmit)
NOTHING(QueueOnSubmittedWorkDone)
#endif
