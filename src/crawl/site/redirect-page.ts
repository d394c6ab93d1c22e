import { escapeHtml } from '../../web/escape-html.ts';

/** A page that leads on, for hosts that know no redirects. */
export function redirectPage(target: string, canonical: string): string {
  const [href, published] = [escapeHtml(target), escapeHtml(canonical)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Redirect</title>
<link rel="canonical" href="${published}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url=${href}">
</head>
<body><p>This page is at <a href="${href}">${href}</a>.</p></body>
</html>
`;
}
