{{/*
Rules between keys of docshelf's config, which docshelf also checks. With a config that breaks one, the pod ends with 78. If the previous pod had to
end first, readers would have no site.
*/}}
{{- define "docshelf.configRules" -}}
{{- $config := .Values.config -}}
{{- if regexMatch "^/_docshelf(/|$)" (dig "server" "basePath" "/" $config) -}}
{{- fail "config.server.basePath is under /_docshelf, which docshelf reserves: choose another path" -}}
{{- end -}}
{{- if and (dig "search" "keys" list $config) $config.organizations -}}
{{- fail "config.search.keys is only for a daemon without organizations: move the keys to an organization, with type assistant" -}}
{{- end -}}

{{- $store := dig "exportApi" "store" dict $config -}}
{{- if and (eq ($store.kind | default "disk") "s3") (not $store.bucket) -}}
{{- fail "config.exportApi.store.kind is s3, which needs a bucket: set config.exportApi.store.bucket" -}}
{{- end -}}
{{- if and $store.kmsKeyId (ne ($store.encryption | default "bucket") "kms") -}}
{{- fail "config.exportApi.store.kmsKeyId is set, but config.exportApi.store.encryption is not kms: set encryption to kms, or remove kmsKeyId" -}}
{{- end -}}
{{- $hasId := or $store.accessKeyId (include "docshelf.isFrom" (list . "exportApi.store.accessKeyId")) -}}
{{- $hasKey := or $store.secretAccessKey (include "docshelf.isFrom" (list . "exportApi.store.secretAccessKey")) -}}
{{- if ne (empty $hasId) (empty $hasKey) -}}
{{- fail "only one of exportApi.store.accessKeyId and exportApi.store.secretAccessKey is set: set both, under config.exportApi.store or in fromSecret, or neither" -}}
{{- end -}}
{{- end -}}

{{/* Rules for one site, with the arguments of docshelf.siteRules. */}}
{{- define "docshelf.siteConfigRules" -}}
{{- $static := .Values.staticExport -}}
{{- $config := .Values.config -}}
{{- $where := .where -}}

{{- $signature := $static.signature | default dict -}}
{{- $hasSignature := or $signature.required $signature.file $signature.url (include "docshelf.isFrom" (list . "staticExport.signature.file")) (include "docshelf.isFrom" (list . "staticExport.signature.url")) -}}
{{- if and $hasSignature (not $signature.publicKeys) (not (include "docshelf.isFrom" (list . "staticExport.signature.publicKeys"))) -}}
{{- fail (printf "%sstaticExport.signature has no key to verify with: set staticExport.signature.publicKeys" $where) -}}
{{- end -}}

{{- if eq (toString $static.from) "exports" -}}
{{- if not (and .Values.exportApi.enabled (eq .Values.exportApi.pods "shared")) -}}
{{- fail (printf "%sstaticExport.from is exports, but the pod of the site has no exports: set exportApi.enabled to true, and exportApi.pods to shared" $where) -}}
{{- end -}}
{{- if or $static.bundleUrl $static.existingSecret.name (include "docshelf.renews" .) -}}
{{- fail (printf "%sstaticExport.from is exports, but a link or staticExport.renew is also set: keep one of them" $where) -}}
{{- end -}}
{{- end -}}

{{- $renew := $static.renew | default dict -}}
{{- if and (include "docshelf.renews" .) (not (or $renew.domain $renew.jobId .Values.deployment.domain)) -}}
{{- fail (printf "%sstaticExport.renew has no domain and no job: set staticExport.renew.domain, or staticExport.renew.jobId" $where) -}}
{{- end -}}
{{- if and (not (include "docshelf.renews" .)) (or $renew.domain $renew.jobId $renew.every) -}}
{{- fail (printf "%sstaticExport.renew has no address: set staticExport.renew.apiUrl to the URL of the export service" $where) -}}
{{- end -}}
{{- if $renew.every -}}
{{- $written := (include "docshelf.written" . | fromYaml).staticExport -}}
{{- range $key := list "version" "sha256" "renew.jobId" -}}
{{- if include "docshelf.at" (dict "from" $written "path" (splitList "." $key)) -}}
{{- fail (printf "%sstaticExport.renew.every exports the site again each time, but staticExport.%s pins one bundle: keep one of them" $where $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $search := dig "features" "search" dict $config -}}
{{- if kindIs "map" $search -}}
{{- $hasKey := or $search.keyFile (include "docshelf.isFrom" (list . "features.search.keyFile")) -}}
{{- if ne (empty $search.discoveryUrl) (empty $hasKey) -}}
{{- fail (printf "%sonly one of features.search.discoveryUrl and features.search.keyFile is set: set both, or neither" $where) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks whether a config key is read from a Secret or a ConfigMap of the operator: [root, key]. */}}
{{- define "docshelf.isFrom" -}}
{{- $root := first . -}}
{{- if or (hasKey $root.Values.fromSecret (last .)) (hasKey $root.Values.fromConfigMap (last .)) -}}true{{- end -}}
{{- end -}}
