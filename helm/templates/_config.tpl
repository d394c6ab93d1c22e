{{/* Sets the value at a path in nested maps: {into, path, value}. */}}
{{- define "docshelf.put" -}}
{{- $node := .into -}}
{{- range initial .path -}}
{{- if not (kindIs "map" (get $node .)) -}}{{- $_ := set $node . dict -}}{{- end -}}
{{- $node = get $node . -}}
{{- end -}}
{{- $_ := set $node (last .path) .value -}}
{{- end -}}

{{/* Returns the text at a path in nested maps, or "": {from, path}. */}}
{{- define "docshelf.at" -}}
{{- $node := .from -}}
{{- range .path -}}
{{- if kindIs "map" $node -}}{{- $node = get $node . -}}{{- else -}}{{- $node = "" -}}{{- end -}}
{{- end -}}
{{- if not (kindIs "map" $node) -}}{{- $node | default "" | toString -}}{{- end -}}
{{- end -}}

{{/* Removes the value at a path: {from, path}. */}}
{{- define "docshelf.drop" -}}
{{- $node := .from -}}
{{- range initial .path -}}
{{- if kindIs "map" $node -}}{{- $node = get $node . -}}{{- end -}}
{{- end -}}
{{- if kindIs "map" $node -}}{{- $_ := unset $node (last .path) -}}{{- end -}}
{{- end -}}

{{/* docshelf's config from the values, including credentials. */}}
{{- define "docshelf.written" -}}
{{- $deployment := deepCopy .Values.deployment -}}
{{- if not $deployment.domain -}}{{- $_ := unset $deployment "domain" -}}{{- end -}}
{{- $written := dict "deployment" $deployment -}}
{{- if .Values.sites -}}
{{- $_ := set $written "sites" (include "docshelf.writtenSites" . | fromYamlArray) -}}
{{- else -}}
{{- $_ := set $written "staticExport" (include "docshelf.writtenStatic" .Values.staticExport | fromYaml) -}}
{{- end -}}
{{- toYaml (merge $written (omit (deepCopy .Values.config) "reload")) -}}
{{- end -}}

{{/* A staticExport section of the config. */}}
{{- define "docshelf.writtenStatic" -}}
{{- $static := omit (deepCopy .) "existingSecret" -}}
{{- range $key := list "bundleUrl" "version" "sha256" -}}
{{/* The version 0 is valid, although it is empty for templates. */}}
{{- if has (get $static $key) (list nil "") -}}{{- $_ := unset $static $key -}}{{- end -}}
{{- end -}}
{{- range $key := list "version" "minVersion" -}}
{{- if hasKey $static $key -}}{{- $_ := set $static $key (include "docshelf.text" (get $static $key)) -}}{{- end -}}
{{- end -}}
{{- with $static.bundleUrl -}}{{- $_ := set $static "bundleUrl" (trim .) -}}{{- end -}}
{{- toYaml $static -}}
{{- end -}}

{{/* Credentials in the config, by config key. They go into a Secret, never into a ConfigMap. */}}
{{- define "docshelf.credentials" -}}
{{- $written := include "docshelf.written" . | fromYaml -}}
{{- $found := dict -}}
{{- range $key := .Files.Get "files/secret-keys.yaml" | fromYamlArray -}}
{{- with include "docshelf.at" (dict "from" $written "path" (splitList "." $key)) -}}
{{- $_ := set $found $key . -}}
{{- end -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{/* Sections of the config whose listeners have the certificate of tls.existingSecret. */}}
{{- define "docshelf.tlsSections" -}}
{{- $sections := dict "site" "server" "api" "api" "admin" "admin" -}}
{{- $found := list -}}
{{- if .Values.tls.existingSecret -}}{{- range .Values.tls.listeners -}}{{- $found = append $found (get $sections .) -}}{{- end -}}{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{/* http or https: {root, section}. A certificate can also come from fromSecret. */}}
{{- define "docshelf.scheme" -}}
{{- ternary "https" "http" (hasKey (include "docshelf.files" .root | fromYaml) (printf "%s.tls.certFile" .section)) -}}
{{- end -}}

{{/* Port of the site that redirects to TLS. Empty if it is not set. */}}
{{- define "docshelf.redirectPort" -}}
{{- dig "server" "tls" "redirectPort" "" .Values.config -}}
{{- end -}}

{{/*
Files from Secrets and ConfigMaps, by config key: {kind, name, item}. The key of a site is sites.DOMAIN.KEY. The files are mounted next to
config.yaml.
*/}}
{{- define "docshelf.files" -}}
{{- $files := dict -}}
{{- range $key := include "docshelf.credentials" . | fromYaml | keys -}}
{{- $_ := set $files $key (dict "kind" "secret" "name" (include "docshelf.fullname" $) "item" $key) -}}
{{- end -}}
{{- range $section := include "docshelf.tlsSections" . | fromYamlArray -}}
{{- range $key, $item := dict "certFile" "tls.crt" "keyFile" "tls.key" -}}
{{- $_ := set $files (printf "%s.tls.%s" $section $key) (dict "kind" "secret" "name" $.Values.tls.existingSecret "item" $item) -}}
{{- end -}}
{{- end -}}
{{- range $site := concat (list dict) .Values.sites -}}
{{- $of := ternary (printf "sites.%s." ($site.domain | default "")) "" (hasKey $site "domain") -}}
{{- $values := ternary $site $.Values (hasKey $site "domain") -}}
{{- $secret := ($values.staticExport).existingSecret -}}
{{- if ($secret).name -}}{{- $_ := set $files (printf "%sstaticExport.bundleUrl" $of) (dict "kind" "secret" "name" $secret.name "item" ($secret.key | default "bundleUrl")) -}}{{- end -}}
{{- range $kind, $from := dict "secret" $values.fromSecret "configMap" $values.fromConfigMap -}}
{{- range $key, $at := $from -}}
{{- $_ := set $files (printf "%s%s" $of $key) (dict "kind" $kind "name" $at.name "item" $at.key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $files -}}
{{- end -}}

{{/* Files that one part needs. The site does not need the key that signs exports, and exports do not need the link of the site. */}}
{{- define "docshelf.partFiles" -}}
{{- $files := include "docshelf.files" .root | fromYaml -}}
{{- $isSite := eq .part "site" -}}
{{- $runsExports := or (not $isSite) (and .root.Values.exportApi.enabled (eq .root.Values.exportApi.pods "shared")) -}}
{{- range $key := keys $files -}}
{{- if or (and (or (hasPrefix "staticExport." $key) (hasPrefix "sites." $key)) (not $isSite)) (and (hasPrefix "exportApi." $key) (not $runsExports)) -}}
{{- $_ := unset $files $key -}}
{{- end -}}
{{- end -}}
{{- toYaml $files -}}
{{- end -}}

{{- define "docshelf.filePath" -}}/etc/docshelf/{{ . }}{{- end -}}

{{/* Environment variable that makes docshelf read a config key from a file: DOCSHELF__ADMIN__TOKEN__FILE. */}}
{{- define "docshelf.fileVariable" -}}
{{- $segments := list "DOCSHELF" -}}
{{- range splitList "." . -}}{{- $segments = append $segments (snakecase . | upper) -}}{{- end -}}
{{- join "__" (append $segments "FILE") -}}
{{- end -}}

{{/* config.yaml of a part: the config without credentials, then the ports and folders that the pod needs. */}}
{{- define "docshelf.config" -}}
{{- $root := .root -}}
{{- $config := include "docshelf.written" $root | fromYaml -}}
{{- range $key := $root.Files.Get "files/secret-keys.yaml" | fromYamlArray -}}
{{- include "docshelf.drop" (dict "from" $config "path" (splitList "." $key)) -}}
{{- end -}}
{{- if ne .part "site" -}}
{{/* These pods serve no site. The limits for archives also apply to exports. */}}
{{- $_ := set $config "staticExport" (merge (dict "enabled" false) (pick ($config.staticExport | default dict) "limits")) -}}
{{- $_ := unset $config "sites" -}}
{{- end -}}
{{- $files := include "docshelf.partFiles" . | fromYaml -}}
{{- range $site := $config.sites -}}{{- include "docshelf.takeFiles" (dict "site" $site "files" $files) -}}{{- end -}}
{{- range $key := keys $files -}}
{{- if hasPrefix "sites." $key -}}
{{- else if eq $key "staticExport.bundleUrl" -}}
{{- $_ := set $config.staticExport "bundleUrlFile" (include "docshelf.filePath" $key) -}}
{{- else if regexMatch "[Ff]ile$" $key -}}
{{- include "docshelf.put" (dict "into" $config "path" (splitList "." $key) "value" (include "docshelf.filePath" $key)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .part "site") (include "docshelf.hasBundles" $root) -}}
{{- $_ := set $config.staticExport "preload" "/bundles" -}}
{{- end -}}
{{- $exports := include "docshelf.hasOwnExports" $root -}}
{{- $runsExports := and $root.Values.exportApi.enabled (or (ne .part "site") (not $exports)) -}}
{{- $role := "both" -}}
{{- if and (ne .part "site") (eq $root.Values.exportApi.pods "split") -}}{{- $role = ternary "api" "worker" (eq .part "export") -}}{{- end -}}
{{- if $runsExports -}}
{{- include "docshelf.put" (dict "into" $config "path" (list "exportApi" "enabled") "value" true) -}}
{{- include "docshelf.put" (dict "into" $config "path" (list "exportApi" "role") "value" $role) -}}
{{- if not (dig "api" "publicUrl" "" $config) -}}
{{/* Base URL of links to bundles. By default, this is the Service of the API in the cluster. */}}
{{- $service := include "docshelf.backend" (dict "root" $root "backend" "export") | fromYaml -}}
{{- $url := printf "%s://%s.%s.svc:%v" (include "docshelf.scheme" (dict "root" $root "section" "api")) $service.name $root.Release.Namespace $service.port -}}
{{- include "docshelf.put" (dict "into" $config "path" (list "api" "publicUrl") "value" $url) -}}
{{- end -}}
{{- end -}}
{{- range $section, $port := dict "server" 8080 "api" 8081 "admin" 9090 -}}
{{/* Listens on all addresses of the pod, because the kubelet connects from outside the pod. */}}
{{- include "docshelf.put" (dict "into" $config "path" (list $section "host") "value" "0.0.0.0") -}}
{{- include "docshelf.put" (dict "into" $config "path" (list $section "port") "value" $port) -}}
{{- end -}}
{{/* Service names of the admin listener. Prometheus uses one of them, or the address of the pod. */}}
{{- $names := list -}}
{{- range $part := list "site" "metrics" "export" -}}
{{- $service := include "docshelf.partName" (dict "root" $root "part" $part) -}}
{{- $names = concat $names (list $service (printf "%s.%s" $service $root.Release.Namespace) (printf "%s.%s.svc" $service $root.Release.Namespace) (printf "%s.%s.svc.cluster.local" $service $root.Release.Namespace)) -}}
{{- end -}}
{{- include "docshelf.put" (dict "into" $config "path" (list "admin" "hosts") "value" (concat (dig "admin" "hosts" list $config) $names | uniq)) -}}
{{- include "docshelf.put" (dict "into" $config "path" (list "storage" "dir") "value" "/var/lib/docshelf") -}}
{{- toYaml $config -}}
{{- end -}}
