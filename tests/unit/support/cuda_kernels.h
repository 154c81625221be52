/* cuda_kernels.h - a program in PTX, written for the entries of adapter.h. The stand-in for a driver knows its kernels by name. */
#ifndef QUERN_TESTS_CUDA_KERNELS_H
#define QUERN_TESTS_CUDA_KERNELS_H

/* Leaves when the work-item is beyond the range; i is its id in the first dimension, in this part. */
#define CUDA_ITEM                                                                  \
  ".reg .pred p; .reg .b32 i, t, u; .reg .b64 g, h;\n"                             \
  "mov.u32 i, %tid.x; mov.u32 t, %ctaid.x; mov.u32 u, %ntid.x;\n"                  \
  "mad.lo.u32 i, t, u, i; ld.param.u32 t, [r+72]; setp.ge.u32 p, i, t; @p exit;\n" \
  "ld.param.u64 g, [r]; cvt.u64.u32 h, i; add.u64 g, g, h;\n"
#define CUDA_RANGE ".param .align 8 .b8 r[120]"

static const char cuda_kernels[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .shared .align 16 .b8 room[];\n"
    /* y[i] = a * x[i] + y[i] */
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n, " CUDA_RANGE ")\n{\n" CUDA_ITEM
    ".reg .f32 e, f, s;\n"
    "ld.param.u32 t, [n]; cvt.u64.u32 h, t; setp.ge.u64 p, g, h; @p exit;\n"
    "shl.b64 g, g, 2; ld.param.u64 h, [x]; add.u64 h, h, g; ld.global.f32 e, [h];\n"
    "ld.param.u64 h, [y]; add.u64 h, h, g; ld.global.f32 f, [h]; ld.param.f32 s, [a];\n"
    "fma.rn.f32 f, s, e, f; st.global.f32 [h], f; ret;\n}\n"
    /* *cell = *cell * 3 + by */
    ".visible .entry advance(.param .u64 cell, .param .u32 by, " CUDA_RANGE
    ")\n{\n"
    ".reg .b32 v, b; .reg .b64 c;\n"
    "ld.param.u64 c, [cell]; ld.param.u32 b, [by]; ld.global.u32 v, [c]; mad.lo.u32 v, v, 3, b; st.global.u32 [c], v; "
    "ret;\n}\n"
    /* Each group turns round its part, by way of local memory. */
    ".visible .entry reverse(.param .u64 data, .param .u32 at, " CUDA_RANGE ")\n{\n" CUDA_ITEM
    ".reg .b32 l, m, b, v;\n"
    "shl.b64 g, g, 2; ld.param.u64 h, [data]; add.u64 h, h, g; ld.global.u32 v, [h];\n"
    "mov.u32 b, room; ld.param.u32 l, [at]; add.u32 b, b, l; mov.u32 l, %tid.x; shl.b32 m, l, 2; add.u32 m, b, m;\n"
    "st.shared.u32 [m], v; bar.sync 0;\n"
    "mov.u32 m, %ntid.x; sub.u32 m, m, l; sub.u32 m, m, 1; shl.b32 m, m, 2; add.u32 m, b, m;\n"
    "ld.shared.u32 v, [m]; st.global.u32 [h], v; ret;\n}\n"
    /* For each work-item of two dimensions where it is: group, place in it, number of groups. */
    ".visible .entry where(.param .u64 out, " CUDA_RANGE ")\n{\n" CUDA_ITEM
    ".reg .b32 j, v; .reg .b64 y, w;\n"
    "mov.u32 j, %tid.y; mov.u32 t, %ctaid.y; mov.u32 u, %ntid.y; mad.lo.u32 j, t, u, j;\n"
    "ld.param.u32 t, [r+76]; setp.ge.u32 p, j, t; @p exit;\n"
    "ld.param.u64 y, [r+8]; cvt.u64.u32 h, j; add.u64 y, y, h; ld.param.u64 h, [r+56]; sub.u64 y, y, h;\n"
    "ld.param.u64 h, [r+48]; sub.u64 g, g, h; ld.param.u64 w, [r+24]; mad.lo.u64 g, y, w, g; mul.lo.u64 g, g, 24;\n"
    "ld.param.u64 h, [out]; add.u64 h, h, g;\n"
    "mov.u32 v, %ctaid.x; ld.param.u32 t, [r+88]; add.u32 v, v, t; st.global.u32 [h], v;\n"
    "mov.u32 v, %ctaid.y; ld.param.u32 t, [r+92]; add.u32 v, v, t; st.global.u32 [h+4], v;\n"
    "mov.u32 v, %tid.x; st.global.u32 [h+8], v; mov.u32 v, %tid.y; st.global.u32 [h+12], v;\n"
    "ld.param.u32 v, [r+104]; st.global.u32 [h+16], v; ld.param.u32 v, [r+108]; st.global.u32 [h+20], v; ret;\n}\n"
    /* Takes so many nanoseconds. */
    ".visible .entry spin(.param .u64 ns, " CUDA_RANGE
    ")\n{\n"
    ".reg .pred p; .reg .b64 s, t, n;\n"
    "ld.param.u64 n, [ns]; mov.u64 s, %globaltimer;\n"
    "L:\nmov.u64 t, %globaltimer; sub.u64 t, t, s; setp.lt.u64 p, t, n; @p bra L;\nret;\n}\n"
    /* Writes where nothing is. */
    ".visible .entry fault(" CUDA_RANGE
    ")\n{\n"
    ".reg .b64 a;\nmov.u64 a, 16; st.global.u64 [a], a; ret;\n}\n";

#endif
