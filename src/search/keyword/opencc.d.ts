/** opencc-js has no types. A table is a text with pairs of characters: `從 从|後 后`. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string;
  export default pairs;
}

/** Pairs of words of Taiwan and mainland China, in traditional characters: `資料庫 數據庫|網路 網絡`. */
declare module 'opencc-js/dict/TWPhrasesRev' {
  const pairs: string;
  export default pairs;
}
