{{/*
Restores the defaults of values that are null: {values, defaults}. Helm removes the default of such a value, also if it is a section with only
commented lines. For the values in $removed, null means empty. Every template calls this first, because Helm does not define the order of templates.
*/}}
{{- define "docshelf.restore" -}}
{{- $removed := list "resources" "probes" "podSecurityContext" "securityContext" "labels" "topologySpreadConstraints" "targetCPUUtilizationPercentage" -}}
{{- range $key, $default := .defaults -}}
{{- $value := index $.values $key -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := set $.values $key (ternary (ternary list dict (kindIs "slice" $default)) $default (has $key $removed)) -}}
{{- else if and (kindIs "map" $default) (not (has $key $removed)) -}}
{{- include "docshelf.restore" (dict "values" $value "defaults" $default) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "docshelf.defaults" -}}
{{- include "docshelf.restore" (dict "values" .Values "defaults" (.Files.Get "files/default-values.yaml" | fromYaml)) -}}
{{- end -}}

{{/* Rejects values of other charts, and versions that YAML read as numbers. Runs before all templates that use such values. */}}
{{- define "docshelf.valueRules" -}}
{{- $sentences := list -}}
{{- range $name, $advice := .Files.Get "files/other-names.yaml" | fromYaml -}}
{{- $node := $.Values -}}
{{- range initial (splitList "." $name) -}}{{- $node = get $node . | default dict -}}{{- end -}}
{{- if and (kindIs "map" $node) (hasKey $node (splitList "." $name | last)) -}}
{{- $sentences = append $sentences (printf "%s is not a value of this chart: %s" $name $advice) -}}
{{- end -}}
{{- end -}}
{{- if $sentences -}}{{- fail (join "\n" $sentences) -}}{{- end -}}
{{- $texts := dict "image.tag" .Values.image.tag -}}
{{- range $index, $site := concat (list .Values) .Values.sites -}}
{{- $where := ternary (printf "sites[%d].staticExport" (sub $index 1)) "staticExport" (gt $index 0) -}}
{{- range $key := list "version" "minVersion" -}}
{{- $_ := set $texts (printf "%s.%s" $where $key) (get ($site.staticExport | default dict) $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := $texts -}}
{{- if and (kindIs "float64" $value) (ne (floor $value) $value) -}}
{{- fail (printf "%s is the number %v, because it has no quotes, and YAML drops a zero at its end: write it in quotes, for example %s: \"%v0\"" $key $value (splitList "." $key | last) $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Rejects contradictory values with a sentence, before a pod fails to start. */}}
{{- define "docshelf.rules" -}}
{{- if .Values.sites -}}
{{- include "docshelf.listRules" . -}}
{{- range $index, $site := .Values.sites -}}
{{- $values := include "docshelf.siteValues" (dict "root" $ "site" $site) | fromYaml -}}
{{- $own := dict "Values" $values "where" (printf "sites[%d] (%s): " $index $site.domain) -}}
{{- include "docshelf.siteRules" $own -}}
{{- include "docshelf.siteConfigRules" $own -}}
{{- end -}}
{{- else -}}
{{- $own := dict "Values" .Values "where" "" -}}
{{- include "docshelf.siteRules" $own -}}
{{- include "docshelf.siteConfigRules" $own -}}
{{- end -}}

{{- $isMany := include "docshelf.isMany" . -}}
{{- if and $isMany .Values.persistence.enabled (not .Values.persistence.perReplica) (not (include "docshelf.isShared" .)) -}}
{{- fail (printf "several replicas cannot share a volume that is %s: set persistence.accessModes to [ReadWriteMany], or persistence.perReplica to true" (join ", " .Values.persistence.accessModes)) -}}
{{- end -}}

{{- $from := merge dict .Values.fromSecret .Values.fromConfigMap -}}
{{- if and (hasKey $from "organizationsFile") (get .Values.config "organizations") -}}
{{- fail "config.organizations and organizationsFile are both set: keep one of them" -}}
{{- end -}}

{{- if .Values.exportApi.enabled -}}
{{- $exports := .Values.exportApi -}}
{{- $sharesJobs := include "docshelf.sharesJobs" . -}}
{{- if and $isMany (eq $exports.pods "shared") (not $sharesJobs) -}}
{{- fail "exportApi.pods is shared with several replicas, which needs PostgreSQL (database.urlFile) and S3 (config.exportApi.store): set both, exportApi.pods to own, or replicas to 1" -}}
{{- end -}}
{{- if and (eq $exports.pods "split") (not $sharesJobs) -}}
{{- fail "exportApi.pods is split, which needs PostgreSQL and S3: set fromSecret.database.urlFile to the Secret with the URL, and set config.exportApi.store, or set exportApi.pods to own" -}}
{{- end -}}
{{- if and (eq $exports.pods "split") $exports.persistence.existingClaim -}}
{{- fail "exportApi.persistence.existingClaim is one volume, but with exportApi.pods split each pod has a volume: remove the claim, or change exportApi.pods" -}}
{{- end -}}
{{- range $where, $scale := dict "exportApi" $exports "exportApi.workers" $exports.workers -}}
{{- if and (ne $exports.pods "split") (include "docshelf.hasMany" $scale) -}}
{{- fail (printf "%s sets several pods, but exportApi.pods is %s: set exportApi.pods to split" $where $exports.pods) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Rules for one site: {Values, where}. For an entry of sites, docshelf.siteValues returns the values. Messages begin with `where`. */}}
{{- define "docshelf.siteRules" -}}
{{- $values := .Values -}}
{{- $where := .where -}}
{{- $static := .Values.staticExport -}}
{{- $secretName := $static.existingSecret.name -}}
{{- if and $static.bundleUrl $secretName -}}
{{- fail (printf "%sstaticExport.bundleUrl and staticExport.existingSecret are both set, and both contain the link: keep one of them" $where) -}}
{{- end -}}

{{/* A presigned link has its signature in the query. The chart cannot read a link in an existing Secret. */}}
{{- $expires := or (contains "?" (toString $static.bundleUrl)) (and $secretName $static.existingSecret.expires) -}}
{{- if and (include "docshelf.isMany" .) $expires (not (include "docshelf.isShared" .)) (not (include "docshelf.renews" .)) (not (include "docshelf.hasBundles" .)) -}}
{{- fail (printf "%seach replica fetches the bundle separately, and the link can be expired when a later pod starts: share a volume (persistence.accessModes [ReadWriteMany]), set staticExport.renew, or, if the link in your Secret does not expire, set staticExport.existingSecret.expires to false" $where) -}}
{{- end -}}

{{- if eq .Values.deployment.type "air-gapped" -}}
{{- if include "docshelf.renews" . -}}
{{- fail (printf "%sdeployment.type is air-gapped, but staticExport.renew contacts an export service: remove staticExport.renew, or set deployment.type to client-hosted" $where) -}}
{{- end -}}
{{- $link := trim (toString $static.bundleUrl) -}}
{{- if regexMatch `^[A-Za-z0-9+.-]+://` $link -}}
{{/* Do not use urlParse: it prints a link that it cannot parse, and the link is a credential. */}}
{{- $host := regexReplaceAll `(?s)^[A-Za-z0-9+.-]+://(?:[^/?#\\]*@)?([^/?#\\]*).*$` $link "${1}" -}}
{{- if hasPrefix "s3://" $link -}}{{- $host = include "docshelf.bucketHost" (dict "bucket" $host "s3" (dig "network" "s3" dict .Values.config)) -}}{{- end -}}
{{- $isAllowed := false -}}
{{- range $each := splitList " " $host -}}
{{- if include "docshelf.isAllowedHost" (dict "host" $each "allowed" (dig "network" "allowedHosts" list $.Values.config)) -}}{{- $isAllowed = true -}}{{- end -}}
{{- end -}}
{{- if and $host (not $isAllowed) -}}
{{- fail (printf "%sdeployment.type is air-gapped, but staticExport.bundleUrl contains the host %s: import the bundle in another way, or, if the host is inside your network, add the host to config.network.allowedHosts" $where (splitList " " $host | first)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if and (include "docshelf.renews" .) (not $static.renew.keyFile) (not (hasKey .Values.fromSecret "staticExport.renew.keyFile")) -}}
{{- fail (printf "%sstaticExport.renew needs the admin key of the export service: set fromSecret.staticExport.renew.keyFile to the Secret with the key" $where) -}}
{{- end -}}
{{- if and (include "docshelf.hasBundles" .) $static.preload -}}
{{- fail (printf "%sbundles and staticExport.preload are both set, and both define the folder of archives to import at start: keep one of them" $where) -}}
{{- end -}}

{{- $written := include "docshelf.written" . | fromYaml -}}
{{- range $key := keys .Values.fromSecret .Values.fromConfigMap | sortAlpha -}}
{{- $places := list -}}
{{- if include "docshelf.at" (dict "from" $written "path" (splitList "." $key)) -}}{{- $places = append $places "in plain" -}}{{- end -}}
{{- if hasKey $values.fromSecret $key -}}{{- $places = append $places "in fromSecret" -}}{{- end -}}
{{- if hasKey $values.fromConfigMap $key -}}{{- $places = append $places "in fromConfigMap" -}}{{- end -}}
{{- if gt (len $places) 1 -}}{{- fail (printf "%s%s is set %s: keep one of them" $where $key (join " and " $places)) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Hosts of a bucket, with and without the name of the bucket. docshelf uses one of them. Empty if the bucket is at Amazon and its region is not set, or
if its region is in another partition. In this case, docshelf itself checks the host.
*/}}
{{- define "docshelf.bucketHost" -}}
{{- $at := "" -}}
{{- if .s3.endpoint -}}
{{- $at = regexReplaceAll `(?s)^[A-Za-z]+://(?:[^/?#\\]*@)?([^/?#\\]*).*$` .s3.endpoint "${1}" -}}
{{- else if and .s3.region (not (regexMatch "^(?:cn-|eusc-|us-iso|eu-iso)" .s3.region)) -}}
{{- $at = printf "s3.%s.amazonaws.com" .s3.region -}}
{{- end -}}
{{- if $at -}}{{- printf "%s.%s %s" .bucket $at $at -}}{{- end -}}
{{- end -}}

{{/* Checks whether config.network.allowedHosts lists a host with an optional port: as host, with its port, or as *.domain. */}}
{{- define "docshelf.isAllowedHost" -}}
{{- $host := lower .host -}}
{{- $name := regexReplaceAll ":[0-9]+$" $host "" -}}
{{- range .allowed -}}
{{- $entry := lower . -}}
{{- if or (eq $entry $host) (eq $entry $name) (and (hasPrefix "*." $entry) (hasSuffix (trimPrefix "*" $entry) $name)) -}}true{{- end -}}
{{- end -}}
{{- end -}}
