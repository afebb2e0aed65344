{{- define "tollgate.name" -}}
{{- if contains "tollgate" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-tollgate" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* With the role controller, pods are none of those that Services lead to. */ -}}
{{- define "tollgate.roleName" -}}
{{ include "tollgate.name" . }}{{ if eq (.Role | default "") "controller" }}-controller{{ end }}
{{- end }}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate{{ if eq (.Role | default "") "controller" }}-controller{{ end }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "tollgate.hasRedis" -}}
{{- if or .Values.redis.host .Values.redis.addresses }}true{{ end }}
{{- end }}

{{- /* The ports for clients: of the Service, and of the pods. Gateways listen on the port that the Service has. */ -}}
{{- define "tollgate.ports" -}}
{{- $ports := list }}
{{- if .Values.kubernetes.enabled }}
{{- range .Values.kubernetes.ports }}
{{- $ports = append $ports (dict "name" .name "port" .port "target" .port "protocol" (.protocol | default "TCP")) }}
{{- end }}
{{- else }}
{{- $ports = append $ports (dict "name" "http" "port" .Values.service.port "target" 8080 "protocol" "TCP") }}
{{- end }}
{{- toYaml $ports }}
{{- end }}

{{- /* The chart's tyk.conf, with the values of config merged over it. */ -}}
{{- define "tollgate.config" -}}
{{- $conf := dict
  "listen_port" 8080
  "control_api_port" 8081
  "app_path" "apps"
  "hash_keys" true
  "log_format" "json"
  "policies" (dict "policy_source" "file" "policy_path" "policies")
  "tollgate" (dict "metrics" (dict "listen" "0.0.0.0:9091")) }}
{{- if .Values.kubernetes.enabled }}
{{- /* On all addresses, the gateway's own port would be one that no Gateway can have. */ -}}
{{- $_ := set $conf "listen_address" "127.0.0.1" }}
{{- $_ := set $conf.tollgate "control_listen_address" "0.0.0.0" }}
{{- /* Any HTTPRoute may be for WebSockets. */ -}}
{{- $_ := set $conf "http_server_options" (dict "enable_websockets" true) }}
{{- end }}
{{- if include "tollgate.hasRedis" . }}
{{- $storage := dict "type" "redis" "port" (int .Values.redis.port) "enable_cluster" .Values.redis.cluster }}
{{- if .Values.redis.host }}{{ $_ := set $storage "host" .Values.redis.host }}{{ end }}
{{- if .Values.redis.addresses }}{{ $_ := set $storage "addrs" .Values.redis.addresses }}{{ end }}
{{- $_ := set $conf "storage" $storage }}
{{- end }}
{{- mergeOverwrite $conf (deepCopy .Values.config) | toPrettyJson }}
{{- end }}
