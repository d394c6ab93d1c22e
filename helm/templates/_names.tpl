{{- define "docshelf.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Forty characters leave room for what the parts append: 63 is the most that a name may have. */}}
{{- define "docshelf.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "docshelf.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "docshelf.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of a part: the release's own for the site, and one that ends in the part for the others. */}}
{{- define "docshelf.partName" -}}
{{- $name := include "docshelf.fullname" .root -}}
{{- if eq .part "site" -}}{{- $name -}}{{- else -}}{{- printf "%s-%s" $name .part -}}{{- end -}}
{{- end -}}

{{- define "docshelf.selector" -}}
app.kubernetes.io/name: {{ include "docshelf.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "docshelf.partSelector" -}}
{{ include "docshelf.selector" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "docshelf.labels" -}}
{{ include "docshelf.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "docshelf.partLabels" -}}
{{ include "docshelf.labels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* A version or tag as text: --set makes an integer of digits, and a values file a float, which would print as 2.0240601e+07. */}}
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
{{- concat ((.Values.global).imagePullSecrets | default list) .Values.imagePullSecrets | uniq | toYaml -}}
{{- end -}}

{{- define "docshelf.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "docshelf.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}
