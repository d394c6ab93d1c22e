{{/* The pod template of a part: {root, part}. */}}
{{- define "docshelf.pod" -}}
{{- $root := .root -}}
{{- $part := .part -}}
{{- $isSite := eq $part "site" -}}
{{- $scale := include "docshelf.scale" . | fromYaml -}}
{{- $files := include "docshelf.partFiles" . | fromYaml -}}
{{- $scheme := include "docshelf.scheme" (dict "root" $root "section" "admin") | upper -}}
metadata:
  labels: {{- include "docshelf.labelsWith" (dict "root" $root "part" $part "more" $root.Values.podLabels "isPod" true) | nindent 4 }}
  {{- $own := dict }}
  {{- if eq $root.Values.config.reload "restart" }}
  {{- $_ := set $own "checksum/config" (printf "%s%s%s" (include "docshelf.config" .) (include "docshelf.credentials" $root) (ternary (include "docshelf.siteLinks" $root) "" (not (empty $root.Values.sites))) | sha256sum) }}
  {{- end }}
  {{- with include "docshelf.annotations" (dict "root" $root "more" $root.Values.podAnnotations "own" $own) }}
  annotations: {{- . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: {{ $root.Values.serviceAccount.automount }}
  serviceAccountName: {{ include "docshelf.serviceAccount" $root | quote }}
  # Otherwise, Kubernetes adds variables for the Services of the namespace, and their names can begin with DOCSHELF_.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  securityContext: {{- include "docshelf.withoutNulls" $root.Values.podSecurityContext | nindent 4 }}
  {{- with include "docshelf.pullSecrets" $root | fromYamlArray }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- range $key := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
  {{- with get $root.Values $key }}
  {{ $key }}: {{ tpl . $root | quote }}
  {{- end }}
  {{- end }}
  {{- range $key := list "hostAliases" "dnsConfig" }}
  {{- with get $root.Values $key }}
  {{ $key }}: {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- $copies := ternary (include "docshelf.bundleContainers" $root | fromYamlArray) list $isSite }}
  {{- with concat $root.Values.initContainers $copies }}
  initContainers: {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
  containers:
    - name: docshelf
      image: {{ include "docshelf.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [serve, --config, /etc/docshelf/config.yaml]
      env:
        - { name: DOCSHELF_CONFIG, value: /etc/docshelf/config.yaml }
        {{- range $key := keys $files | sortAlpha }}
        {{- if not (or (regexMatch "[Ff]ile$" $key) (hasSuffix "staticExport.bundleUrl" $key) (hasPrefix "sites." $key)) }}
        - { name: {{ include "docshelf.fileVariable" $key }}, value: {{ include "docshelf.filePath" $key }} }
        {{- end }}
        {{- end }}
        {{- with $root.Values.extraEnv }}
        {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 8 }}
        {{- end }}
      {{- with $root.Values.envFrom }}
      envFrom: {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 8 }}
      {{- end }}
      ports:
        {{- if $isSite }}
        - { name: http, containerPort: 8080 }
        {{- with include "docshelf.redirectPort" $root }}
        - { name: redirect, containerPort: {{ . }} }
        {{- end }}
        {{- end }}
        {{- if or (eq $part "export") (and $isSite (include "docshelf.siteHasApi" $root)) }}
        - { name: api, containerPort: 8081 }
        {{- end }}
        - { name: admin, containerPort: 9090 }
      # docshelf opens its listeners before it reads a bundle. A slow first fetch delays only readiness, and Kubernetes does not end
      # the pod. A pod that waits for an import is also alive.
      {{- range $kind, $path := dict "startup" "/livez" "liveness" "/livez" "readiness" "/readyz" }}
      {{- with get $root.Values.probes $kind }}
      {{ $kind }}Probe:
        {{- if not (or .exec .grpc .httpGet .tcpSocket) }}
        httpGet: { path: {{ $path }}, port: admin{{ if eq $scheme "HTTPS" }}, scheme: HTTPS{{ end }} }
        {{- end }}
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- if $root.Values.lifecycle }}
      lifecycle: {{- toYaml $root.Values.lifecycle | nindent 8 }}
      {{- else }}
      lifecycle:
        preStop:
          # Continue to respond until every proxy has removed the pod from its list.
          sleep: { seconds: {{ $root.Values.preStopSeconds }} }
      {{- end }}
      securityContext: {{- include "docshelf.withoutNulls" $root.Values.securityContext | nindent 8 }}
      resources: {{- toYaml $scale.resources | nindent 8 }}
      volumeMounts:
        # Mount the whole folder: a subPath would not receive changes.
        - { name: config, mountPath: /etc/docshelf, readOnly: true }
        - { name: data, mountPath: /var/lib/docshelf{{ with include "docshelf.subPath" . }}, subPath: {{ . | quote }}{{ end }} }
        - { name: tmp, mountPath: /tmp }
        {{- if $isSite }}
        {{- with include "docshelf.bundleMounts" $root }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- end }}
        {{- with $root.Values.extraVolumeMounts }}
        {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 8 }}
        {{- end }}
    {{- with $root.Values.extraContainers }}
    {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 4 }}
    {{- end }}
  volumes:
    # Use one volume, which Kubernetes updates in one step, so that a version and its link arrive together.
    - name: config
      projected:
        {{- if and $isSite $root.Values.sites }}
        defaultMode: 288
        {{- end }}
        sources:
          - configMap:
              name: {{ include "docshelf.partName" . | quote }}
              items: [{ key: config.yaml, path: config.yaml }]
          {{- range $key := keys $files | sortAlpha }}
          {{- $file := get $files $key }}
          - {{ $file.kind }}:
              name: {{ $file.name | quote }}
              # 0440 in decimal, because YAML 1.1 and 1.2 read octal numbers differently.
              items: [{ key: {{ $file.item | quote }}, path: {{ $key | quote }}, mode: 288 }]
          {{- end }}
          {{- if and $isSite $root.Values.sites }}
          # Mount the whole Secret, so that the link of another site does not change the pod.
          - secret:
              name: {{ include "docshelf.partName" (dict "root" $root "part" "sites") | quote }}
              optional: true
          {{- end }}
    - name: data
      {{- include "docshelf.dataVolume" . | nindent 6 }}
    - name: tmp
      {{- $tmp := dict }}
      {{- range $key, $value := $root.Values.tmp }}{{ with $value }}{{ $_ := set $tmp $key . }}{{ end }}{{ end }}
      emptyDir: {{ toJson $tmp }}
    {{- if $isSite }}
    {{- with include "docshelf.bundleVolumes" $root }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 4 }}
    {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity: {{- include "docshelf.rendered" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
  {{- if $isSite }}
  {{- with $root.Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range . }}
    {{- $selector := dict "labelSelector" (dict "matchLabels" (include "docshelf.partSelector" (dict "root" $root "part" "site") | fromYaml)) }}
    - {{- merge dict . $selector | toYaml | nindent 6 }}
    {{- end }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* A null removes a setting. OpenShift needs this, because it chooses users itself. */}}
{{- define "docshelf.withoutNulls" -}}
{{- $kept := dict -}}
{{- range $key, $value := . -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $kept $key $value -}}{{- end -}}
{{- end -}}
{{- toYaml $kept -}}
{{- end -}}

{{- define "docshelf.dataVolume" -}}
{{- $isSite := eq .part "site" -}}
{{- $persistence := ternary .root.Values.persistence .root.Values.exportApi.persistence $isSite -}}
{{- if not $persistence.enabled -}}
emptyDir: {}
{{- else if ternary $persistence.perReplica (eq .root.Values.exportApi.pods "split") $isSite -}}
ephemeral:
  volumeClaimTemplate:
    metadata:
      labels: {{- merge (include "docshelf.partSelector" . | fromYaml) ($persistence.labels | default dict) (.root.Values.commonLabels | default dict) | toYaml | nindent 8 }}
      {{- with include "docshelf.annotations" (dict "root" .root "more" $persistence.annotations) }}
      annotations: {{- . | nindent 8 }}
      {{- end }}
    spec: {{- include "docshelf.claimSpec" (dict "root" .root "persistence" $persistence) | nindent 6 }}
{{- else -}}
persistentVolumeClaim:
  {{- $own := include "docshelf.partName" (dict "root" .root "part" (ternary "site" "export" $isSite)) }}
  claimName: {{ $persistence.existingClaim | default $own | quote }}
{{- end -}}
{{- end -}}

{{- define "docshelf.subPath" -}}
{{- (ternary .root.Values.persistence .root.Values.exportApi.persistence (eq .part "site")).subPath -}}
{{- end -}}

{{/* {root, part, persistence} */}}
{{- define "docshelf.claimMetadata" -}}
{{- $own := ternary (dict "helm.sh/resource-policy" "keep") dict (.persistence.keep | default false) -}}
{{- include "docshelf.metadata" (dict "root" .root "part" .part "name" (include "docshelf.partName" .) "labels" .persistence.labels "annotations" .persistence.annotations "own" $own) -}}
{{- end -}}

{{/* {root, persistence} */}}
{{- define "docshelf.claimSpec" -}}
{{- $persistence := .persistence -}}
accessModes: {{- toYaml $persistence.accessModes | nindent 2 }}
{{- with $persistence.storageClass | default (.root.Values.global).storageClass | default (.root.Values.global).defaultStorageClass }}
storageClassName: {{ ternary "" . (eq . "-") | quote }}
{{- end }}
{{- range $key := list "selector" "volumeName" "dataSource" }}
{{- with get $persistence $key }}
{{ $key }}: {{ toJson . }}
{{- end }}
{{- end }}
resources:
  requests:
    storage: {{ $persistence.size | quote }}
{{- end -}}
