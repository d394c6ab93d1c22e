// Loader for pages that docshelf does not change. The build writes this file from `loader.js` with `LABELS`.
import './loader.js';
