{{/*
Rejects combinations of values that Kubernetes would reject in the middle of an installation, or accept and ignore. Each value is valid alone, so the
schema of the values cannot find them.
*/}}
{{- define "docshelf.podRules" -}}
{{- $values := .Values -}}
{{- $name := include "docshelf.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "%s is not a valid name of a Service, which begins with a letter and has only lower-case letters, digits and dashes: set fullnameOverride" $name) -}}
{{- end -}}

{{- $own := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- $labels := dict "commonLabels" $values.commonLabels "podLabels" $values.podLabels "deploymentLabels" $values.deploymentLabels -}}
{{- range $key := list "service" "ingress" "httpRoute" "networkPolicy" "persistence" "serviceAccount" "serviceMonitor" "prometheusRule" "dashboard" -}}
{{- $_ := set $labels (printf "%s.labels" $key) (get $values $key).labels -}}
{{- end -}}
{{- range $where, $each := $labels -}}
{{- range $label, $_ := $each -}}
{{- if has $label $own -}}{{- fail (printf "%s sets %s, which the chart sets itself: remove this label" $where $label) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- range $where, $scale := dict "" $values "exportApi." $values.exportApi "exportApi.workers." $values.exportApi.workers -}}
{{- with $scale.autoscaling -}}
{{- if .enabled -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail (printf "%sautoscaling.minReplicas is %d, which is more than %sautoscaling.maxReplicas, %d: set a lower minimum or a higher maximum" $where (int .minReplicas) $where (int .maxReplicas)) -}}
{{- end -}}
{{- $targets := dict "cpu" .targetCPUUtilizationPercentage "memory" .targetMemoryUtilizationPercentage -}}
{{- range $resource, $target := $targets -}}
{{- if and $target (not (dig "requests" $resource "" ($scale.resources | default dict))) -}}
{{- fail (printf "%sautoscaling needs a %s request, but %sresources.requests.%s is not set: set this request, or set %sautoscaling.enabled to false" $where (ternary "CPU" "memory" (eq $resource "cpu")) $where $resource $where) -}}
{{- end -}}
{{- end -}}
{{- if not (or $targets.cpu $targets.memory .metrics) -}}
{{- fail (printf "%sautoscaling has no metric: set %sautoscaling.targetCPUUtilizationPercentage or %sautoscaling.metrics" $where $where $where) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- range $where, $persistence := dict "persistence" $values.persistence "exportApi.persistence" $values.exportApi.persistence -}}
{{- if and $persistence.existingClaim (not $persistence.enabled) -}}
{{- fail (printf "%s.existingClaim is set, but %s.enabled is false: remove the claim, or set enabled to true" $where $where) -}}
{{- end -}}
{{- end -}}
{{- if and $values.persistence.keep $values.persistence.perReplica -}}
{{- fail "persistence.keep is true, but with persistence.perReplica each volume exists as long as its pod: keep one of them" -}}
{{- end -}}
{{- if and $values.persistence.existingClaim $values.persistence.perReplica -}}
{{- fail "persistence.existingClaim is one volume, but persistence.perReplica creates a volume for each replica: keep one of them" -}}
{{- end -}}

{{/* Both periods begin when Kubernetes stops the pod. */}}
{{- $shutdown := dig "server" "shutdownTimeout" "20s" $values.config -}}
{{- $shutdownSeconds := mul (regexFind "^[0-9]+" $shutdown | int) (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) (regexFind ".$" $shutdown)) -}}
{{- if gt (add $values.preStopSeconds $shutdownSeconds) (int64 $values.terminationGracePeriodSeconds) -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, which is not longer than preStopSeconds and config.server.shutdownTimeout together: set terminationGracePeriodSeconds to more than %d" (int64 $values.terminationGracePeriodSeconds) (add $values.preStopSeconds $shutdownSeconds)) -}}
{{- end -}}

{{- include "docshelf.readerRules" . -}}
{{- include "docshelf.extraRules" . -}}
{{- end -}}

{{/* Rejects routes to listeners that are off. */}}
{{- define "docshelf.readerRules" -}}
{{- $root := . -}}
{{- $ports := dict "port" .Values.service.port "apiPort" .Values.service.apiPort -}}
{{- if include "docshelf.redirectPort" . -}}{{- $_ := set $ports "redirectPort" .Values.service.redirectPort -}}{{- end -}}
{{- $taken := dict -}}
{{- range $key, $port := $ports -}}
{{- with get $taken (toString $port) -}}
{{- fail (printf "service.%s and service.%s are both %v: change one of them" . $key $port) -}}
{{- end -}}
{{- $_ := set $taken (toString $port) $key -}}
{{- end -}}
{{- $service := .Values.service -}}
{{- range $key, $types := dict "nodePort" "NodePort or LoadBalancer" "apiNodePort" "NodePort or LoadBalancer" "redirectNodePort" "NodePort or LoadBalancer" "externalTrafficPolicy" "NodePort or LoadBalancer" "loadBalancerIP" "LoadBalancer" "loadBalancerClass" "LoadBalancer" "loadBalancerSourceRanges" "LoadBalancer" "healthCheckNodePort" "LoadBalancer" -}}
{{- if and (get $service $key) (not (has $service.type (splitList " or " $types))) -}}
{{- fail (printf "service.%s is set, but service.type is %s: set service.type to %s, or remove service.%s" $key $service.type $types $key) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled is true, but no Gateway is set: set httpRoute.parentRefs" -}}
{{- end -}}
{{- range $where := list "ingress" "httpRoute" -}}
{{- $way := get $root.Values $where -}}
{{- if $way.enabled -}}
{{- if not (or $way.hosts $root.Values.sites) -}}{{- fail (printf "%s.enabled is true, but no host is set: set %s.hosts" $where $where) -}}{{- end -}}
{{- include "docshelf.placeRules" (dict "root" $root "of" $where) -}}
{{- range include "docshelf.hosts" (dict "root" $root "of" $where) | fromYamlArray -}}
{{- if and (eq (.backend | default "site") "export") (not $root.Values.exportApi.enabled) -}}
{{- fail (printf "%s.hosts routes %s to the export API, which is off: set exportApi.enabled to true" $where .host) -}}
{{- end -}}
{{- if and (eq (.backend | default "site") "api") (not (include "docshelf.siteHasApi" $root)) -}}
{{- fail (printf "%s.hosts routes %s to the search API, which is off: set config.search.enabled to true" $where .host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each host and path has one backend, and each host is a name: {root, of}. */}}
{{- define "docshelf.placeRules" -}}
{{- $where := .of -}}
{{- $taken := dict -}}
{{- range (include "docshelf.places" . | fromYaml).places -}}
{{- if or (contains ":" .host) (regexMatch "^[0-9.]+$" .host) -}}
{{- fail (printf "the host %s is an IP address, but %s supports only names: remove the address from hosts, or set %s.enabled to false" .host $where $where) -}}
{{- end -}}
{{- $place := printf "%s%s" (.host | default "any host") .path -}}
{{- $other := get $taken $place -}}
{{- if and $other (ne $other .backend) -}}
{{- fail (printf "%s routes %s to both %s and %s: change the host or path of one of them" $where $place $other .backend) -}}
{{- end -}}
{{- $_ := set $taken $place .backend -}}
{{- end -}}
{{- end -}}

{{/* Additions to the pods must not override settings that the chart needs. */}}
{{- define "docshelf.extraRules" -}}
{{- $pods := list -}}
{{- range $part := (include "docshelf.parts" . | fromYaml).parts -}}
{{- $pods = append $pods (include "docshelf.pod" (dict "root" $ "part" $part) | fromYaml).spec -}}
{{- end -}}
{{- range $pod := $pods -}}
{{- $container := first $pod.containers -}}
{{- $names := list -}}
{{- range concat $pod.containers ($pod.initContainers | default list) -}}
{{- if has .name $names -}}{{- fail (printf "initContainers or extraContainers has %s, which is already the name of a container of the pod: choose another name" .name) -}}{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- $volumes := list -}}
{{- range $pod.volumes -}}
{{- if has .name $volumes -}}{{- fail (printf "extraVolumes has %s, which is already the name of a volume of the pod: choose another name" .name) -}}{{- end -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- $paths := list -}}
{{- range $container.volumeMounts -}}
{{- $path := trimSuffix "/" .mountPath -}}
{{- if has $path $paths -}}{{- fail (printf "extraVolumeMounts has %s, which is already a mount path: choose another path" .mountPath) -}}{{- end -}}
{{- if not (has .name $volumes) -}}{{- fail (printf "extraVolumeMounts mounts %s, which is not a volume: add the volume to extraVolumes" .name) -}}{{- end -}}
{{- $paths = append $paths $path -}}
{{- end -}}
{{- $variables := list -}}
{{- range $container.env -}}
{{/* docshelf ignores case and single underscores in the names of its variables. A variable contains a value, or names a file with it. */}}
{{- $variable := ternary (.name | upper | trimSuffix "__FILE" | replace "__" "." | replace "_" "") .name (hasPrefix "DOCSHELF_" (upper .name)) -}}
{{- if has $variable $variables -}}{{- fail (printf "extraEnv sets %s, which is already set: keep one of them" .name) -}}{{- end -}}
{{- if regexMatch "^DOCSHELF\\.((SERVER|API|ADMIN)\\.(HOST|PORT)|STORAGE\\.DIR)$" $variable -}}
{{- fail (printf "extraEnv sets %s, but the probes, Services and volumes of the chart need the value of the chart: remove this variable" .name) -}}
{{- end -}}
{{- $variables = append $variables $variable -}}
{{- end -}}
{{- end -}}
{{- end -}}
