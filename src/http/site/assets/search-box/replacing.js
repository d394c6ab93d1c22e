// Loader for pages whose own box it replaces. The build writes this file from `loader.js` with `REPLACES`.
import './loader.js';
