/** Packages that are not in the built program but beside it: with native code, or with a folder of programs of their own. */
export const OUTSIDE = ['onnxruntime-node', 'playwright-core'];

/** What those need while they run; the others that they name are for their own installation. */
export const NEEDED_OUTSIDE = [...OUTSIDE, 'onnxruntime-common'];
