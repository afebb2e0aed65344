{{- /*
Takes over the values of Tyk's chart tyk-oss (`global` and `tyk-gateway.gateway`), so that a file of them can be passed as it is. What the chart has
a value of its own for replaces it; other settings become part of tyk.conf, under `config`.
*/ -}}
{{- define "tollgate.carryOver" -}}
{{- $values := .Values }}
{{- $global := $values.global | default dict }}
{{- $gateway := dig "gateway" dict (get $values "tyk-gateway" | default dict) }}
{{- if and (or $gateway $global) (not (hasKey $values "isCarriedOver")) }}
{{- $_ := set $values "isCarriedOver" true }}
{{- $config := deepCopy $values.config }}

{{- /* The secret. */ -}}
{{- with dig "secrets" "APISecret" "" $global }}{{ $_ := set $values.controlSecret "value" . }}{{ end }}
{{- with dig "secrets" "useSecretName" "" $global }}{{ $_ := set $values.controlSecret "existingSecret" . }}{{ $_ := set $values.controlSecret "key" "APISecret" }}{{ end }}

{{- /* Redis. */ -}}
{{- $redis := get $global "redis" | default dict }}
{{- $storage := dict }}
{{- with get $redis "addrs" }}{{ $_ := set $values.redis "addresses" . }}{{ end }}
{{- if and (hasKey $global "redis") (not $values.redis.addresses) (not $values.redis.host) }}
{{- $_ := set $values.redis "addresses" (list (printf "redis.%s.svc:6379" .Release.Namespace)) }}
{{- end }}
{{- if get $redis "enableCluster" }}{{ $_ := set $values.redis "cluster" true }}{{ end }}
{{- with get $redis "pass" }}{{ $_ := set $values.redis "password" . }}{{ end }}
{{- with dig "passSecret" "name" "" $redis }}{{ $_ := set $values.redis "existingSecret" . }}{{ end }}
{{- with dig "passSecret" "keyName" "" $redis }}{{ $_ := set $values.redis "key" . }}{{ end }}
{{- with dig "storage" "database" 0 $redis }}{{ $_ := set $storage "database" (int .) }}{{ end }}
{{- if get $redis "useSSL" }}{{ $_ := set $storage "use_ssl" true }}{{ end }}
{{- if get $redis "sslInsecureSkipVerify" }}{{ $_ := set $storage "ssl_insecure_skip_verify" true }}{{ end }}
{{- range $theirs, $ours := dict "sslCAFile" "ca_file" "sslCertFile" "cert_file" "sslKeyFile" "key_file" "tlsMinVersion" "tls_min_version" "tlsMaxVersion" "tls_max_version" }}
{{- with get $redis $theirs }}{{ $_ := set $storage $ours (toString .) }}{{ end }}
{{- end }}
{{- with get $redis "secretName" }}
{{- $_ := set $values "extraVolumes" (append $values.extraVolumes (dict "name" "redis-certificates" "secret" (dict "secretName" .))) }}
{{- $mount := dict "name" "redis-certificates" "mountPath" (get $redis "certificatesMountPath" | default "/etc/certs") "readOnly" true }}
{{- $_ := set $values "extraVolumeMounts" (append $values.extraVolumeMounts $mount) }}
{{- end }}
{{- if get $redis "enableSentinel" }}
{{- $_ := set $storage "master_name" (get $redis "masterName") }}
{{- with get $redis "sentinelPass" }}{{ $_ := set $values "env" (append $values.env (dict "name" "TYK_GW_STORAGE_SENTINELPASSWORD" "value" .)) }}{{ end }}
{{- end }}
{{- if $storage }}{{ $config = mergeOverwrite $config (dict "storage" $storage) }}{{ end }}

{{- /* The configuration. */ -}}
{{- $server := dict }}
{{- if or $gateway (hasKey $global "secrets") (hasKey $global "redis") }}
{{- /* What their chart sets if nobody says otherwise. */ -}}
{{- $ours := dict "hash_key_function" "murmur128" "enable_custom_domains" true "global_session_lifetime" 100 "max_idle_connections_per_host" 500 }}
{{- $_ := set $ours "policies" (dict "allow_explicit_policy_id" true) }}
{{- $_ := set $ours "coprocess_options" (dict "enable_coprocess" true) }}
{{- $config = mergeOverwrite $ours $config }}
{{- range list "enable_websockets" "enable_path_prefix_matching" "enable_path_suffix_matching" "enable_strict_routes" }}{{ $_ := set $server . true }}{{ end }}
{{- $_ := set $server "xff_depth" 1 }}
{{- end }}
{{- if hasKey $global "hashKeys" }}{{ $_ := set $config "hash_keys" $global.hashKeys }}{{ end }}
{{- if kindIs "bool" (get $gateway "analyticsEnabled") }}{{ $_ := set $config "enable_analytics" $gateway.analyticsEnabled }}{{ else if dig "components" "pump" false $global }}{{ $_ := set $config "enable_analytics" true }}{{ end }}
{{- if get $gateway "enableFixedWindowRateLimiter" }}{{ $_ := set $config "enable_fixed_window_rate_limiter" true }}{{ end }}
{{- with dig "log" "level" "" $gateway }}{{ $_ := set $config "log_level" . }}{{ end }}
{{- with dig "log" "format" "" $gateway }}{{ if ne . "default" }}{{ $_ := set $config "log_format" . }}{{ end }}{{ end }}
{{- range $theirs, $ours := dict "allowInsecureConfigs" "allow_insecure_configs" "enableCustomDomains" "enable_custom_domains" "hashKeyFunction" "hash_key_function" }}
{{- if hasKey $gateway $theirs }}{{ $_ := set $config $ours (get $gateway $theirs) }}{{ end }}
{{- end }}
{{- range $theirs, $ours := dict "globalSessionLifetime" "global_session_lifetime" "maxIdleConnectionsPerHost" "max_idle_connections_per_host" }}
{{- with get $gateway $theirs }}{{ $_ := set $config $ours (int .) }}{{ end }}
{{- end }}
{{- if dig "accessLogs" "enabled" false $gateway }}
{{- $template := dig "accessLogs" "template" "" $gateway }}
{{- $_ := set $config "access_logs" (dict "enabled" true "template" (ternary (splitList "," $template) list (ne $template ""))) }}
{{- end }}
{{- if or (hasKey $global "oasValidateExamples") (hasKey $global "oasValidateSchemaDefaults") }}
{{- $_ := set $config "oas_config" (dict "validate_examples" (dig "oasValidateExamples" false $global) "validate_schema_defaults" (dig "oasValidateSchemaDefaults" false $global)) }}
{{- end }}
{{- with dig "httpsServerOptions" "xffDepth" "" $gateway }}{{ $_ := set $server "xff_depth" (int .) }}{{ end }}
{{- range $theirs, $ours := dict "enablePathPrefixMatching" "enable_path_prefix_matching" "enablePathSuffixMatching" "enable_path_suffix_matching" "enableStrictRoutes" "enable_strict_routes" }}
{{- if hasKey $gateway $theirs }}{{ $_ := set $server $ours (get $gateway $theirs) }}{{ end }}
{{- end }}
{{- if dig "tls" "gateway" false $global }}
{{- $tls := get $gateway "tls" | default dict }}
{{- $secret := required "tyk-gateway.gateway.tls.secretName: global.tls.gateway needs a certificate" (get $tls "secretName") }}
{{- $path := get $tls "certificatesMountPath" | default "/etc/certs/tyk-gateway" }}
{{- $_ := set $server "use_ssl" true }}
{{- $certificates := get $tls "certificates" | default (list (dict "cert_file" (printf "%s/tls.crt" $path) "key_file" (printf "%s/tls.key" $path))) }}
{{- $_ := set $server "certificates" $certificates }}
{{- $_ := set $values "extraVolumes" (append $values.extraVolumes (dict "name" "certificates" "secret" (dict "secretName" $secret))) }}
{{- $_ := set $values "extraVolumeMounts" (append $values.extraVolumeMounts (dict "name" "certificates" "mountPath" $path "readOnly" true)) }}
{{- end }}
{{- if $server }}{{ $config = mergeOverwrite $config (dict "http_server_options" $server) }}{{ end }}
{{- $told := get $gateway "opentelemetry" | default dict }}
{{- if get $told "enabled" }}
{{- $telemetry := dict "enabled" true }}
{{- range $theirs, $ours := dict "exporter" "exporter" "endpoint" "endpoint" "headers" "headers" "connectionTimeout" "connection_timeout" "resourceName" "resource_name" "spanProcessorType" "span_processor_type" "contextPropagation" "context_propagation" }}
{{- with get $told $theirs }}{{ $_ := set $telemetry $ours (ternary (. | toString | atoi) . (eq $theirs "connectionTimeout")) }}{{ end }}
{{- end }}
{{- with get $told "sampling" }}
{{- $_ := set $telemetry "sampling" (dict "type" (get . "type" | default "AlwaysOn") "rate" (get . "rate" | default 0.5) "parent_based" (get . "parentBased" | default false)) }}
{{- end }}
{{- if dig "tls" "enabled" false $told }}
{{- $tls := dict "enable" true "insecure_skip_verify" ($told.tls.insecureSkipVerify | default false) }}
{{- $path := $told.tls.secretMountPath | default "/etc/certs/opentelemetry" }}
{{- range $theirs, $ours := dict "certFileName" "cert_file" "keyFileName" "key_file" "caFileName" "ca_file" }}
{{- with get $told.tls $theirs }}{{ $_ := set $tls $ours (printf "%s/%s" $path .) }}{{ end }}
{{- end }}
{{- with $told.tls.certificateSecretName }}
{{- $_ := set $values "extraVolumes" (append $values.extraVolumes (dict "name" "opentelemetry-certificates" "secret" (dict "secretName" .))) }}
{{- $_ := set $values "extraVolumeMounts" (append $values.extraVolumeMounts (dict "name" "opentelemetry-certificates" "mountPath" $path "readOnly" true)) }}
{{- end }}
{{- $_ := set $telemetry "tls" $tls }}
{{- end }}
{{- $_ := set $config "opentelemetry" $telemetry }}
{{- end }}
{{- $_ := set $values "config" $config }}

{{- /* Pods and services. */ -}}
{{- with get $gateway "replicaCount" }}{{ $_ := set $values "replicas" (int .) }}{{ end }}
{{- range $theirs, $ours := dict "podAnnotations" "podAnnotations" "podLabels" "podLabels" "nodeSelector" "nodeSelector" "tolerations" "tolerations" "affinity" "affinity" "resources" "resources" "imagePullSecrets" "imagePullSecrets" "topologySpreadConstraints" "topologySpreadConstraints" "priorityClassName" "priorityClassName" }}
{{- with get $gateway $theirs }}{{ $_ := set $values $ours . }}{{ end }}
{{- end }}
{{- $_ := set $values "env" (concat $values.env (get $gateway "extraEnvs" | default list)) }}
{{- $_ := set $values "extraVolumes" (concat $values.extraVolumes (get $gateway "extraVolumes" | default list)) }}
{{- $_ := set $values "extraVolumeMounts" (concat $values.extraVolumeMounts (get $gateway "extraVolumeMounts" | default list)) }}
{{- with dig "servicePorts" "gateway" 0 $global }}{{ $_ := set $values.service "port" (int .) }}{{ end }}
{{- with dig "service" "type" "" $gateway }}{{ $_ := set $values.service "type" . }}{{ end }}
{{- with dig "service" "annotations" "" $gateway }}{{ $_ := set $values.service "annotations" . }}{{ end }}
{{- with dig "control" "port" 0 $gateway }}{{ if dig "control" "enabled" false $gateway }}{{ $_ := set $values.controlService "port" (int .) }}{{ end }}{{ end }}
{{- with dig "control" "annotations" "" $gateway }}{{ $_ := set $values.controlService "annotations" . }}{{ end }}
{{- if dig "pdb" "enabled" false $gateway }}
{{- $_ := set $values.podDisruptionBudget "enabled" true }}
{{- with $gateway.pdb.maxUnavailable }}{{ $_ := set $values.podDisruptionBudget "maxUnavailable" . }}{{ end }}
{{- with $gateway.pdb.minAvailable }}{{ $_ := set $values.podDisruptionBudget "minAvailable" . }}{{ end }}
{{- end }}
{{- if dig "autoscaling" "enabled" false $gateway }}
{{- $_ := set $values.autoscaling "enabled" true }}
{{- range $theirs, $ours := dict "minReplicas" "minReplicas" "maxReplicas" "maxReplicas" "averageCpuUtilization" "cpuPercent" }}
{{- with get $gateway.autoscaling $theirs }}{{ $_ := set $values.autoscaling $ours (int .) }}{{ end }}
{{- end }}
{{- end }}
{{- if dig "ingress" "enabled" false $gateway }}
{{- $_ := set $values.ingress "enabled" true }}
{{- with $gateway.ingress.className }}{{ $_ := set $values.ingress "className" . }}{{ end }}
{{- with $gateway.ingress.annotations }}{{ $_ := set $values.ingress "annotations" . }}{{ end }}
{{- $_ := set $values.ingress "hosts" ($gateway.ingress.hosts | default list) }}
{{- $_ := set $values.ingress "tls" ($gateway.ingress.tls | default list) }}
{{- end }}
{{- end }}
{{- end }}
