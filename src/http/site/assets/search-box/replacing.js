// The loader, for pages whose own box it replaces: the build writes this file of `loader.js` with `REPLACES` true.
import './loader.js';
