/** opencc-js has no types. Its tables are texts with pairs of characters: `從 从|後 后`. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string;
  export default pairs;
}
