{{/*
Bundles in images. A single image volume is mounted as the preload folder. With several volumes, or with init containers, the preload folder is
an empty folder, which contains links into the image volumes. No mount uses a subPath.
*/}}
{{- define "docshelf.gathersBundles" -}}
{{- if or .Values.bundles.images (gt (len .Values.bundles.imageVolumes) 1) -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.bundleVolumes" -}}
{{- range $index, $volume := .Values.bundles.imageVolumes }}
- name: bundle-{{ $index }}
  image: {{- toYaml $volume | nindent 4 }}
{{- end }}
{{- if include "docshelf.gathersBundles" . }}
- name: bundles
  emptyDir: {}
{{- end }}
{{- end -}}

{{- define "docshelf.bundleMounts" -}}
{{- if include "docshelf.gathersBundles" . }}
- { name: bundles, mountPath: /bundles }
{{- range $index, $volume := .Values.bundles.imageVolumes }}
- { name: bundle-{{ $index }}, mountPath: /bundle-images/{{ $index }}, readOnly: true }
{{- end }}
{{- else if .Values.bundles.imageVolumes }}
- { name: bundle-0, mountPath: /bundles, readOnly: true }
{{- end }}
{{- end -}}

{{- define "docshelf.bundleContainers" -}}
{{- $root := . -}}
{{- range $index, $bundle := .Values.bundles.images }}
- name: copy-bundle-{{ $index }}
  image: {{ $bundle.image | quote }}
  imagePullPolicy: {{ $bundle.pullPolicy | default "IfNotPresent" }}
  command: {{- $bundle.command | default (list "cp" "-rf" (printf "%s/." ($bundle.path | default "/bundle")) "/bundles/") | toYaml | nindent 4 }}
  securityContext: {{- include "docshelf.withoutNulls" $root.Values.securityContext | nindent 4 }}
  resources: {{- toYaml $root.Values.bundles.resources | nindent 4 }}
  volumeMounts:
    - { name: bundles, mountPath: /bundles }
{{- end }}
{{- if gt (len .Values.bundles.imageVolumes) 1 }}
- name: link-bundles
  image: {{ include "docshelf.image" $root | quote }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  command:
    - node
    - -e
    - |
      const { readdirSync, rmSync, symlinkSync } = require('node:fs');
      for (const image of readdirSync('/bundle-images')) {
        for (const name of readdirSync(`/bundle-images/${image}`)) {
          const link = `/bundles/${image}-${name}`;
          // A pod whose node starts anew runs this again, on the folder as it was.
          rmSync(link, { force: true });
          symlinkSync(`/bundle-images/${image}/${name}`, link);
        }
      }
  securityContext: {{- include "docshelf.withoutNulls" $root.Values.securityContext | nindent 4 }}
  resources: {{- toYaml $root.Values.bundles.resources | nindent 4 }}
  volumeMounts: {{- include "docshelf.bundleMounts" $root | nindent 4 }}
{{- end }}
{{- end -}}
