/** Text has a contrast of at least 4.5 to 1 in both schemes. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f6f8, #101318);
  --card: light-dark(#ffffff, #181c23);
  --line: light-dark(#e1e4ea, #2a303a);
  --ink: light-dark(#171b22, #e8ebf0);
  --soft: light-dark(#5a6472, #9aa5b4);
  --link: light-dark(#1a56b8, #7fb2ff);
  --good: light-dark(#146c3b, #63d394);
  --good-ground: light-dark(#e3f5ea, #12301f);
  --warn: light-dark(#885000, #f3bd5d);
  --warn-ground: light-dark(#fdf1d8, #352812);
  --bad: light-dark(#a92323, #ff9a92);
  --bad-ground: light-dark(#fdeaea, #3a1919);
  --info: light-dark(#1a56b8, #8dbbff);
  --info-ground: light-dark(#e9f0fc, #152238);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 0 1.5rem 3rem; max-width: 72rem;
  background: var(--ground); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
}
a { color: var(--link); text-underline-offset: .2em; }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: 4px; }
code, .mono { font-family: var(--mono); font-size: .9em; }
h1, h2, p, dl, dd { margin: 0; }
h2 { font-size: 1.05rem; font-weight: 650; letter-spacing: -.005em; }
small, .soft { color: var(--soft); font-size: .875rem; }

header { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1rem; padding: 1.75rem 0 1.5rem; }
header svg { display: block; flex: none; }
h1 { font-size: 1.35rem; font-weight: 680; letter-spacing: -.015em; line-height: 1.25; overflow-wrap: anywhere; }
header .state { margin-left: auto; }

.state, .chip { display: inline-flex; align-items: center; white-space: nowrap; border-radius: 99px; font-weight: 600; }
.state { gap: .5rem; padding: .35rem .9rem .35rem .75rem; font-size: .95rem; }
.state::before { content: ""; width: .6rem; height: .6rem; border-radius: 50%; background: currentColor; }
.chip { padding: .05rem .55rem; font-size: .8rem; line-height: 1.5; }
.good { color: var(--good); background: var(--good-ground); }
.warn { color: var(--warn); background: var(--warn-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
.info { color: var(--info); background: var(--info-ground); }
.none { color: var(--soft); background: light-dark(#eceef2, #242a33); }

section { margin-top: 1.25rem; }
.card, .table { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
.card { padding: 1.1rem 1.25rem 1.2rem; }
.card h2 { margin-bottom: .5rem; color: var(--soft); font-size: .875rem; font-weight: 600; letter-spacing: 0; }
.card .big { font-size: 1.3rem; font-weight: 660; letter-spacing: -.015em; line-height: 1.3; overflow-wrap: anywhere; }
.card p + p { margin-top: .3rem; }
.lead { grid-column: span 2; }
.lead .big { font-size: 1.9rem; }
.facts { display: flex; flex-wrap: wrap; gap: .85rem 1.75rem; margin-top: 1.1rem; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { font-weight: 560; }
.facts dd small { display: block; font-weight: 400; }
.big .chip { vertical-align: .2em; letter-spacing: 0; }
time, .ago { white-space: nowrap; }

.alert { padding: .9rem 1.25rem 1rem; border-radius: 12px; border: 1px solid color-mix(in srgb, currentColor 35%, transparent); }
.alert h2 { color: inherit; margin-bottom: .3rem; }
.alert p { color: var(--ink); white-space: pre-wrap; overflow-wrap: anywhere; }
.alert p + p { margin-top: .4rem; }
.alert ul { margin: 0; padding-left: 1.1rem; color: var(--ink); overflow-wrap: anywhere; }

.title { display: flex; align-items: baseline; gap: .6rem; margin: 2rem 0 .7rem; }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .65rem 1rem; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-size: .8125rem; font-weight: 600; white-space: nowrap; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 620; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.empty { padding: 1.4rem 1rem; color: var(--soft); }

footer { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; margin-top: 2.25rem; padding-top: 1.1rem; border-top: 1px solid var(--line); }
footer .soft { margin-left: auto; }

@media (max-width: 40rem) {
  body { padding: 0 1rem 2rem; }
  header .state, footer .soft { margin-left: 0; }
  .lead { grid-column: auto; }
}
`;
