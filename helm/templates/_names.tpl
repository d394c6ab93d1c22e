{{- define "docshelf.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
A name has at most 63 characters, so 40 leave space for the suffixes of the parts. The name of a release can contain dots, but the name of a
Service cannot. Quote it in manifests: a name of digits would become a number.
*/}}
{{- define "docshelf.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name (include "docshelf.name" .)) (contains (include "docshelf.name" .) .Release.Name) -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 40 | trimAll "-" -}}
{{- end -}}

{{/* Name of a part. The site has the name of the release. The other names end with the part. */}}
{{- define "docshelf.partName" -}}
{{- $name := include "docshelf.fullname" .root -}}
{{- if eq .part "site" -}}{{- $name -}}{{- else -}}{{- printf "%s-%s" $name .part -}}{{- end -}}
{{- end -}}

{{- define "docshelf.selector" -}}
app.kubernetes.io/name: {{ include "docshelf.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "docshelf.partSelector" -}}
{{ include "docshelf.selector" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/*
Labels of the chart, and more labels, which override commonLabels: {root, part, more, isPod}. All but root are optional. Pods have no label with a
version: otherwise a newer chart would replace pods that are the same.
*/}}
{{- define "docshelf.labelsWith" -}}
{{- $labels := include "docshelf.selector" .root | fromYaml -}}
{{- with .part -}}{{- $_ := set $labels "app.kubernetes.io/component" . -}}{{- end -}}
{{- $_ := set $labels "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- if not .isPod -}}
{{- $_ := set $labels "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- end -}}
{{- toYaml (merge $labels (.more | default dict) (.root.Values.commonLabels | default dict)) -}}
{{- end -}}

{{/* The annotations of an object, as YAML, with commonAnnotations: {root, more, own}. more and own are optional, and own has no templates. */}}
{{- define "docshelf.annotations" -}}
{{- $annotations := dict -}}
{{- range $key, $value := merge dict (.more | default dict) (.root.Values.commonAnnotations | default dict) -}}
{{- $_ := set $annotations $key (tpl $value $.root) -}}
{{- end -}}
{{- with merge (.own | default dict) $annotations -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* The metadata of an object: {root, name, part, labels, annotations, own, namespace}. All but root and name are optional. */}}
{{- define "docshelf.metadata" -}}
name: {{ .name | quote }}
namespace: {{ .namespace | default .root.Release.Namespace | quote }}
labels: {{- include "docshelf.labelsWith" (dict "root" .root "part" .part "more" .labels) | nindent 2 }}
{{- with include "docshelf.annotations" (dict "root" .root "more" .annotations "own" .own) }}
annotations: {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A value as YAML, its templates rendered: {root, value}. */}}
{{- define "docshelf.rendered" -}}
{{- $text := toYaml .value -}}
{{- if contains "{{" $text -}}{{- tpl $text .root -}}{{- else -}}{{- $text -}}{{- end -}}
{{- end -}}

{{/* Returns a version or tag as text. --set turns digits into an integer, and a values file into a float, which would print as 2.0240601e+07. */}}
{{- define "docshelf.text" -}}
{{- if kindIs "string" . -}}{{- . -}}{{- else -}}{{- int64 . -}}{{- end -}}
{{- end -}}

{{- define "docshelf.image" -}}
{{- $registry := (.Values.global).imageRegistry | default .Values.image.registry -}}
{{- $repository := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne (toString ($registry | default "")) "") -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- printf "%s:%s" $repository (include "docshelf.text" $tag) -}}
{{- end -}}
{{- end -}}

{{- define "docshelf.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat ((.Values.global).imagePullSecrets | default list) (.Values.imagePullSecrets | default list) -}}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- $secrets | uniq | toYaml -}}
{{- end -}}

{{- define "docshelf.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "docshelf.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}
