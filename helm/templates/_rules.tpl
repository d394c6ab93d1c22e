{{/* What contradicts itself is refused here, in a sentence, and not by a pod that does not start. */}}
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
{{- fail "config.organizations and the file of organizationsFile both say who owns which domains: keep one of them" -}}
{{- end -}}

{{- if .Values.exportApi.enabled -}}
{{- $exports := .Values.exportApi -}}
{{- $sharesJobs := include "docshelf.sharesJobs" . -}}
{{- if and $isMany (eq $exports.pods "shared") (not $sharesJobs) -}}
{{- fail "exportApi.pods is shared, and without PostgreSQL (database.urlFile) and S3 (config.exportApi.store) the queue of exports works in one pod alone: set both, exportApi.pods to own, or replicas to 1" -}}
{{- end -}}
{{- if and (eq $exports.pods "split") (not $sharesJobs) -}}
{{- fail "exportApi.pods is split, and its pods share jobs by PostgreSQL and S3: name the Secret with the URL in fromSecret, under database.urlFile, and set config.exportApi.store, or exportApi.pods to own" -}}
{{- end -}}
{{- if and (eq $exports.pods "split") $exports.persistence.existingClaim -}}
{{- fail "exportApi.persistence.existingClaim is one volume, and the pods of exportApi.pods split have one each: keep one of them" -}}
{{- end -}}
{{- range $where, $scale := dict "exportApi" $exports "exportApi.workers" $exports.workers -}}
{{- if and (ne $exports.pods "split") (include "docshelf.hasMany" $scale) -}}
{{- fail (printf "%s asks for several pods, and exportApi.pods is %s: set it to split" $where $exports.pods) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Of one site: {Values, where}. An entry of a list has them as docshelf.siteValues gives them; `where` goes before what is said. */}}
{{- define "docshelf.siteRules" -}}
{{- $values := .Values -}}
{{- $where := .where -}}
{{- $static := .Values.staticExport -}}
{{- $secretName := $static.existingSecret.name -}}
{{- if and $secretName (not $static.existingSecret.key) -}}
{{- fail (printf "%sstaticExport.existingSecret names no key: set staticExport.existingSecret.key to the one that holds the link" $where) -}}
{{- end -}}
{{- if and $static.bundleUrl $secretName -}}
{{- fail (printf "%sstaticExport.bundleUrl and staticExport.existingSecret are both set, and each gives the link: keep one of them" $where) -}}
{{- end -}}

{{/* A presigned link carries its signature in the query; of a link in a Secret of yours only you know. */}}
{{- $expires := or (contains "?" (toString $static.bundleUrl)) (and $secretName $static.existingSecret.expires) -}}
{{- if and (include "docshelf.isMany" .) $expires (not (include "docshelf.isShared" .)) (not (include "docshelf.renews" .)) (not (include "docshelf.hasBundles" .)) -}}
{{- fail (printf "%sseveral replicas fetch the bundle one by one, and a pod that starts later finds the link expired: share a volume (persistence.accessModes [ReadWriteMany]), set staticExport.renew, or, where the link in your Secret does not expire, staticExport.existingSecret.expires to false" $where) -}}
{{- end -}}

{{- if eq .Values.deployment.type "air-gapped" -}}
{{- if include "docshelf.renews" . -}}
{{- fail (printf "%sdeployment.type is air-gapped, and staticExport.renew asks an export service: remove it, or set deployment.type to client-hosted" $where) -}}
{{- end -}}
{{- $link := trim (toString $static.bundleUrl) -}}
{{- if regexMatch `^[A-Za-z0-9+.-]+://` $link -}}
{{/* Not by urlParse, which prints a link that it cannot read: the link is a credential. */}}
{{- $host := regexReplaceAll `(?s)^[A-Za-z0-9+.-]+://(?:[^/?#\\]*@)?([^/?#\\]*).*$` $link "${1}" -}}
{{- if hasPrefix "s3://" $link -}}{{- $host = include "docshelf.bucketHost" (dict "bucket" $host "s3" (dig "network" "s3" dict .Values.config)) -}}{{- end -}}
{{- $isAllowed := false -}}
{{- range $each := splitList " " $host -}}
{{- if include "docshelf.isAllowedHost" (dict "host" $each "allowed" (dig "network" "allowedHosts" list $.Values.config)) -}}{{- $isAllowed = true -}}{{- end -}}
{{- end -}}
{{- if and $host (not $isAllowed) -}}
{{- fail (printf "%sdeployment.type is air-gapped, and staticExport.bundleUrl leads to %s: bring the bundle in another way, or, where that host is inside, list it in config.network.allowedHosts" $where (splitList " " $host | first)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if and (include "docshelf.renews" .) (not $static.renew.keyFile) (not (hasKey .Values.fromSecret "staticExport.renew.keyFile")) -}}
{{- fail (printf "%sstaticExport.renew needs the admin key of the export service: name its Secret in fromSecret, under staticExport.renew.keyFile" $where) -}}
{{- end -}}
{{- if and (include "docshelf.hasBundles" .) $static.preload -}}
{{- fail (printf "%sbundles and staticExport.preload both say which folder is taken in at the start: keep one of them" $where) -}}
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
Hosts that may be asked for a bucket, of which one is: with the bucket's name before it, or without. None where the place is Amazon's and nothing here
says the region, or it is one of a partition that is not the common one: then docshelf itself judges it.
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

{{/* Whether a host, perhaps with its port, is listed: itself, with any port, or by *.domain. As config.network.allowedHosts says. */}}
{{- define "docshelf.isAllowedHost" -}}
{{- $host := lower .host -}}
{{- $name := regexReplaceAll ":[0-9]+$" $host "" -}}
{{- range .allowed -}}
{{- $entry := lower . -}}
{{- if or (eq $entry $host) (eq $entry $name) (and (hasPrefix "*." $entry) (hasSuffix (trimPrefix "*" $entry) $name)) -}}true{{- end -}}
{{- end -}}
{{- end -}}
