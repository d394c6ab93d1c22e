// The parts of css-tree that are used, by themselves: all of it takes a thread 105 ms of CPU to load, the tokenizer 8
// (measured). Its types speak of the whole package only.
declare module 'css-tree/tokenizer' {
  export { tokenize, tokenTypes } from 'css-tree';
}
declare module 'css-tree/utils' {
  export { ident, string, url } from 'css-tree';
}
