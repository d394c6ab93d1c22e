{{/* Entries of sites in docshelf's config, from the values. As for a single site, serving is on by default. */}}
{{- define "docshelf.writtenSites" -}}
{{- $entries := list -}}
{{- range .Values.sites -}}
{{- $static := merge (dict) (.staticExport | default dict) (dict "enabled" true) -}}
{{- $entries = append $entries (merge (dict "staticExport" (include "docshelf.writtenStatic" $static | fromYaml)) (omit . "fromSecret" "fromConfigMap" "staticExport")) -}}
{{- end -}}
{{- toYaml $entries -}}
{{- end -}}

{{/* Links in the values, by file name. They go into the Secret of the sites. */}}
{{- define "docshelf.siteLinks" -}}
{{- $links := dict -}}
{{- range include "docshelf.writtenSites" . | fromYamlArray -}}
{{- $key := printf "sites.%s.staticExport.bundleUrl" .domain -}}
{{- with .staticExport.bundleUrl -}}{{- $_ := set $links $key . -}}{{- end -}}
{{- end -}}
{{- toYaml $links -}}
{{- end -}}

{{/* Replaces credentials of an entry by the files from Secrets and ConfigMaps: {site, files}. */}}
{{- define "docshelf.takeFiles" -}}
{{- $site := .site -}}
{{- $of := printf "sites.%s." $site.domain -}}
{{- $link := printf "%sstaticExport.bundleUrl" $of -}}
{{- $names := keys .files -}}
{{- if $site.staticExport.bundleUrl -}}{{- $names = append $names $link -}}{{- end -}}
{{- $_ := unset $site.staticExport "bundleUrl" -}}
{{- range $key := $names -}}
{{- if hasPrefix $of $key -}}
{{- $own := trimPrefix $of $key -}}
{{- $value := include "docshelf.filePath" $key -}}
{{- if eq $key $link -}}{{- $own = "staticExport.bundleUrlFile" -}}{{- end -}}
{{- if eq $own "staticExport.signature.publicKeys" -}}{{- $value = list $value -}}{{- end -}}
{{- include "docshelf.put" (dict "into" $site "path" (splitList "." $own) "value" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Values of a release with this entry as its only site: {root, site}. The rules for a single site apply to each entry. */}}
{{- define "docshelf.siteValues" -}}
{{- $site := .site -}}
{{- $static := mergeOverwrite (dict "existingSecret" (dict "name" "" "key" "bundleUrl" "expires" true)) (deepCopy ($site.staticExport | default dict)) -}}
{{- $values := deepCopy (omit .root.Values "sites" "staticExport") -}}
{{- $config := mergeOverwrite (deepCopy $values.config) (deepCopy (pick $site "features" "search")) -}}
{{- $_ := set $values "staticExport" $static -}}
{{- $_ := set $values "config" $config -}}
{{- $_ := set $values "deployment" (dict "type" $values.deployment.type "domain" $site.domain) -}}
{{- range $from := list "fromSecret" "fromConfigMap" -}}
{{- $_ := set $values $from (merge (deepCopy (get $site $from | default dict)) (get $values $from)) -}}
{{- end -}}
{{- toYaml $values -}}
{{- end -}}

{{/* Rejects keys that belong in an entry of sites, and addresses that two entries claim. */}}
{{- define "docshelf.listRules" -}}
{{- $static := .Values.staticExport -}}
{{- $single := list -}}
{{- if not $static.enabled -}}{{- $single = append $single "staticExport.enabled" -}}{{- end -}}
{{- if $static.existingSecret.name -}}{{- $single = append $single "staticExport.existingSecret" -}}{{- end -}}
{{- range $key, $value := omit $static "enabled" "existingSecret" -}}
{{- if not (has $value (list nil "")) -}}{{- $single = append $single (printf "staticExport.%s" $key) -}}{{- end -}}
{{- end -}}
{{- if .Values.deployment.domain -}}{{- $single = append $single "deployment.domain" -}}{{- end -}}
{{- if ne (dig "server" "basePath" "/" .Values.config) "/" -}}{{- $single = append $single "config.server.basePath" -}}{{- end -}}
{{- range $from := list "fromSecret" "fromConfigMap" -}}
{{- range $key := keys (get $.Values $from) | sortAlpha -}}
{{- if hasPrefix "staticExport." $key -}}{{- $single = append $single (printf "%s.%s" $from $key) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- with $single -}}
{{- fail (printf "%s and sites are both set: move %s into the entries of sites" (first .) (first .)) -}}
{{- end -}}
{{- if include "docshelf.hasBundles" . -}}
{{- fail "bundles works only without sites: mount the bundle of each site with extraVolumes and extraVolumeMounts, and set staticExport.preload of its entry to the folder, as in examples/many-sites-images.yaml" -}}
{{- end -}}
{{- $domains := dict -}}
{{- $claims := dict -}}
{{- range $index, $site := .Values.sites -}}
{{- if hasKey $domains $site.domain -}}
{{- fail (printf "sites[%d].domain repeats %s of sites[%v].domain: give each site its own domain" $index $site.domain (get $domains $site.domain)) -}}
{{- end -}}
{{- $_ := set $domains $site.domain $index -}}
{{- if regexMatch "^/_docshelf(/|$)" (include "docshelf.basePath" $site) -}}
{{- fail (printf "sites[%d] (%s) has a basePath under /_docshelf, which docshelf reserves: choose another path" $index $site.domain) -}}
{{- end -}}
{{- range $host := $site.hosts | default (list "every other host") -}}
{{- $place := printf "%s%s" (lower $host) (include "docshelf.basePath" $site) -}}
{{- if hasKey $claims $place -}}
{{- fail (printf "sites[%d] (%s) serves %s, which the site %s also serves: change the host or base path of one of them" $index $site.domain $place (get $claims $place)) -}}
{{- end -}}
{{- $_ := set $claims $place $site.domain -}}
{{- end -}}
{{- $url := (($site.staticExport).signature).url | default "" -}}
{{- if or (contains "?" $url) (contains "@" $url) -}}
{{- fail (printf "sites[%d] (%s) has a credential in staticExport.signature.url, but an entry cannot read this link from a Secret: set fromSecret.staticExport.signature.file to the signature itself" $index $site.domain) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Returns /docs for /docs and for /docs/. */}}
{{- define "docshelf.basePath" -}}
{{- printf "/%s" (.basePath | default "/" | trimAll "/") -}}
{{- end -}}

{{/* The hosts that `of` (ingress or httpRoute) lists, with a map for each path, their templates rendered: {root, of}. */}}
{{- define "docshelf.hosts" -}}
{{- $hosts := list -}}
{{- range (get .root.Values .of).hosts -}}
{{- $host := ternary (dict "host" .) . (kindIs "string" .) -}}
{{- range $path := $host.paths | default (list dict) -}}
{{- $path = ternary (dict "path" $path) $path (kindIs "string" $path) -}}
{{- $hosts = append $hosts (merge (dict "host" (tpl $host.host $.root)) $path (omit $host "paths")) -}}
{{- end -}}
{{- end -}}
{{- toYaml $hosts -}}
{{- end -}}

{{/*
Routes for readers, as {places: [{host, path, pathType, backend, filters}]}: the hosts and base paths of the sites, and the hosts in `of` (ingress or
httpRoute): {root, of}. The host "" means every host. If no site of a host is at its root, the root shows docshelf's shelf page.
*/}}
{{- define "docshelf.places" -}}
{{- $places := list -}}
{{- $hosts := list -}}
{{- $roots := list -}}
{{- range $site := .root.Values.sites -}}
{{- range $host := $site.hosts | default (list "") -}}
{{- $path := include "docshelf.basePath" $site -}}
{{- $hosts = append $hosts (lower $host) -}}
{{- if eq $path "/" -}}{{- $roots = append $roots (lower $host) -}}{{- end -}}
{{- $places = append $places (dict "host" (lower $host) "path" $path "backend" "site") -}}
{{- end -}}
{{- end -}}
{{- range include "docshelf.hosts" . | fromYamlArray -}}
{{- $path := .path | default "/" -}}
{{- if eq $path "/" -}}{{- $roots = append $roots (lower .host) -}}{{- end -}}
{{- $places = append $places (dict "host" (lower .host) "path" $path "backend" (.backend | default "site") "filters" (.filters | default list) "pathType" (.pathType | default "")) -}}
{{- end -}}
{{- if dig "server" "shelf" true .root.Values.config -}}
{{- range $host := $hosts | uniq -}}
{{- if not (has $host $roots) -}}{{- $places = append $places (dict "host" $host "path" "/" "backend" "site") -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "places" $places) -}}
{{- end -}}

{{/* The same routes by host, in their order and without duplicates: {hosts: [{host, places}]}. */}}
{{- define "docshelf.placesByHost" -}}
{{- $names := list -}}
{{- $byHost := dict -}}
{{- range (include "docshelf.places" . | fromYaml).places -}}
{{- $names = append $names .host -}}
{{- $_ := set $byHost .host (append (get $byHost .host | default list) (omit . "host") | uniq) -}}
{{- end -}}
{{- $hosts := list -}}
{{- range $names | uniq -}}{{- $hosts = append $hosts (dict "host" . "places" (get $byHost .)) -}}{{- end -}}
{{- toYaml (dict "hosts" $hosts) -}}
{{- end -}}

{{/* Groups hosts with the same places into HTTPRoutes of at most 16 hosts: {routes: [{hosts, places}]}. A route for every host has no hosts. */}}
{{- define "docshelf.routes" -}}
{{- $keys := list -}}
{{- $groups := dict -}}
{{- range (include "docshelf.placesByHost" (dict "root" . "of" "httpRoute") | fromYaml).hosts -}}
{{- $key := printf "%t %s" (empty .host) (toJson .places) -}}
{{- $keys = append $keys $key -}}
{{- $group := get $groups $key | default (dict "places" .places "hosts" list) -}}
{{- $_ := set $groups $key (set $group "hosts" (append $group.hosts .host)) -}}
{{- end -}}
{{- $routes := list -}}
{{- range $keys | uniq -}}
{{- $group := get $groups . -}}
{{- range chunk 16 $group.hosts -}}
{{- $routes = append $routes (dict "hosts" (without . "") "places" $group.places) -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "routes" $routes) -}}
{{- end -}}

{{/* Groups places with the same backend and filters into one rule of at most 64 paths. With more paths, the backend selects the site itself. */}}
{{- define "docshelf.rulesOfRoute" -}}
{{- $rules := dict -}}
{{- range . -}}
{{- $key := printf "%s %s" .backend (toJson .filters) -}}
{{- $rule := get $rules $key | default (dict "backend" .backend "filters" .filters "paths" list) -}}
{{- $_ := set $rules $key (set $rule "paths" (append $rule.paths .path)) -}}
{{- end -}}
{{- $all := list -}}
{{- range $rule := $rules -}}
{{- $all = append $all (set $rule "paths" (ternary (list "/") $rule.paths (gt (len $rule.paths) 64))) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}
