/** opencc-js has no types. A table is a text with pairs of characters or words: `從 从|後 后`. */
declare module 'opencc-js/dict/*' {
  const pairs: string;
  export default pairs;
}
