import { auditRoutes } from './pages/audit.tsx';
import { diffRoutes } from './pages/diff.tsx';
import { jobRoutes } from './pages/jobs.tsx';
import { keyRoutes } from './pages/keys.tsx';
import { manualRoutes } from './pages/manual.tsx';
import { organizationRoutes } from './pages/organizations.tsx';
import { overviewRoutes } from './pages/overview.tsx';
import { searchRoutes } from './pages/search.tsx';
import { signInRoutes } from './pages/sign-in.tsx';
import { siteRoutes } from './pages/site.tsx';
import type { ConsoleRoute } from './visit.ts';

/** All pages and what can be done on them. Another is a file of `pages/`, a line here, and one of `NAVIGATION` in `layout.tsx`. */
export const consoleRoutes: readonly ConsoleRoute[] = [
  ...overviewRoutes,
  ...siteRoutes,
  ...searchRoutes,
  ...diffRoutes,
  ...jobRoutes,
  ...organizationRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...signInRoutes,
  ...manualRoutes,
];
