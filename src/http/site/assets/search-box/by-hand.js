// The loader, for pages that docshelf adds nothing to: the build writes this file of `loader.js` with `LABELS` in it.
import './loader.js';
