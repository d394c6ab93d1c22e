/** opencc-js exports its tables without types: pairs of characters, `從 从|後 后`. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string;
  export default pairs;
}
