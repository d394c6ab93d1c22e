import { siteAddress } from '../addresses.ts';
import { ActionForm } from '../parts/action-form.tsx';
import type { ConsoleVisit } from '../visit.ts';

const ARCHIVES = '.tar,.gz,.tgz,.zst,.zip';

/** Files are chosen, or with `upload.js` dropped; that shows each one's progress and verdict. */
export function UploadForm({ visit, domain }: { readonly visit: ConsoleVisit; readonly domain: string }) {
  if (visit.session === null) return null;
  return (
    <section id="upload">
      <div class="title">
        <h2 id="upload-title">Upload bundles</h2>
        <small>.tar, .tar.gz, .tar.zst or .zip</small>
      </div>
      <ActionForm
        visit={visit}
        action={`${siteAddress(domain)}/upload`}
        class="card upload"
        enctype="multipart/form-data"
        aria-labelledby="upload-title"
      >
        <p class="check">
          <input type="checkbox" id="upload-activate" name="activate" value="true" checked />
          <label for="upload-activate">Activate at once</label>
        </p>
        <p>
          <label for="upload-version">Version</label>
          <input id="upload-version" name="version" autocomplete="off" aria-describedby="upload-version-help" />
          <small id="upload-version-help">Leave empty to use the version from the archive or its file name.</small>
        </p>
        <p>
          <label for="upload-signature">Signatures</label>
          <input type="file" id="upload-signature" name="signature" accept=".minisig" multiple />
          <small>Files of minisign, if the config has public keys.</small>
        </p>
        <p>
          <label for="upload-bundle">Archives</label>
          <input type="file" id="upload-bundle" name="bundle" accept={ARCHIVES} multiple required />
          <small class="drop">With JavaScript, you can also drop archives and signatures here.</small>
        </p>
        <button type="submit" class="primary">
          Upload
        </button>
      </ActionForm>
      <ol class="uploads" data-own aria-label="Uploads"></ol>
    </section>
  );
}
