/** opencc-js has no types. A table is a text with pairs of characters: `從 从|後 后`. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string;
  export default pairs;
}
