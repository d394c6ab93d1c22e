/**
 * What the browser is started with, besides the flags that playwright-core gives it. All requests of pages are answered by us before
 * they come to the browser's network, and that leads nowhere: what is never intercepted (WebSockets, preconnects, WebRTC, the
 * browser's own errands) finds no name, no proxy and no socket.
 */
export const CHROMIUM_FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--mute-audio',
  // Port 9 is discard; the rule for loopback takes away that it is asked without the proxy.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Frames of other hosts stay in their page's process, where its frames are known.
  '--disable-site-isolation-trials',
  // What a page prerenders has frames of its own, which belong to no tab.
  '--disable-features=IsolateOrigins,site-per-process,Prerender2,SpeculationRulesPrefetchProxy',
  '--disk-cache-size=1',
  // A script may fill this many MiB before its page crashes.
  '--js-flags=--max-old-space-size=512',
  '--hide-scrollbars',
];

/** Playwright lets pages open windows; a browser that nobody clicks in has no reason to. */
export const UNWANTED_FLAGS = ['--disable-popup-blocking'];
