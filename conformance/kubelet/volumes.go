package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// volumes reads what the volumes of a pod hold. Files are written once, before the pod starts: later changes of a
// Secret or ConfigMap do not reach a pod that runs.
type volumes struct {
	client kubernetes.Interface
	pod    *corev1.Pod
}

// read returns the files of each volume by their path in it. An error says what is missing; it may come yet.
func (v volumes) read(ctx context.Context) (map[string]map[string][]byte, error) {
	result := map[string]map[string][]byte{}
	for _, volume := range v.pod.Spec.Volumes {
		files, err := v.readOne(ctx, volume.VolumeSource)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		result[volume.Name] = files
	}
	return result, nil
}

func (v volumes) readOne(ctx context.Context, source corev1.VolumeSource) (map[string][]byte, error) {
	switch {
	case source.EmptyDir != nil:
		return nil, nil
	case source.Secret != nil:
		return v.secret(ctx, source.Secret.SecretName, source.Secret.Items, source.Secret.Optional)
	case source.ConfigMap != nil:
		return v.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.DownwardAPI != nil:
		return v.downward(source.DownwardAPI.Items)
	case source.Projected != nil:
		files := map[string][]byte{}
		for _, projection := range source.Projected.Sources {
			more, err := v.projected(ctx, projection)
			if err != nil {
				return nil, err
			}
			maps.Copy(files, more)
		}
		return files, nil
	}
	return nil, fmt.Errorf("volumes of this kind are not supported")
}

func (v volumes) projected(ctx context.Context, source corev1.VolumeProjection) (map[string][]byte, error) {
	switch {
	case source.Secret != nil:
		return v.secret(ctx, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.ConfigMap != nil:
		return v.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.DownwardAPI != nil:
		return v.downward(source.DownwardAPI.Items)
	case source.ServiceAccountToken != nil:
		return v.token(ctx, source.ServiceAccountToken)
	}
	return nil, fmt.Errorf("projections of this kind are not supported")
}

func (v volumes) secret(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	secret, err := v.client.CoreV1().Secrets(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if errors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return selectItems(secret.Data, items, isTrue(optional))
}

func (v volumes) configMap(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	configMap, err := v.client.CoreV1().ConfigMaps(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if errors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data := maps.Clone(configMap.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range configMap.Data {
		data[key] = []byte(value)
	}
	return selectItems(data, items, isTrue(optional))
}

func selectItems(data map[string][]byte, items []corev1.KeyToPath, optional bool) (map[string][]byte, error) {
	if items == nil {
		return data, nil
	}
	files := map[string][]byte{}
	for _, item := range items {
		value, present := data[item.Key]
		if !present && !optional {
			return nil, fmt.Errorf("the key %s is missing", item.Key)
		}
		files[item.Path] = value
	}
	return files, nil
}

func (v volumes) downward(items []corev1.DownwardAPIVolumeFile) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("%s: only fields are supported", item.Path)
		}
		value, err := v.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		files[item.Path] = []byte(value)
	}
	return files, nil
}

func (v volumes) field(path string) (string, error) {
	switch path {
	case "metadata.name":
		return v.pod.Name, nil
	case "metadata.namespace":
		return v.pod.Namespace, nil
	case "metadata.uid":
		return string(v.pod.UID), nil
	case "metadata.labels":
		return lines(v.pod.Labels), nil
	case "metadata.annotations":
		return lines(v.pod.Annotations), nil
	}
	return "", fmt.Errorf("the field %s is not supported", path)
}

func lines(values map[string]string) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&text, "%s=%q\n", key, values[key])
	}
	return text.String()
}

func (v volumes) token(ctx context.Context, source *corev1.ServiceAccountTokenProjection) (map[string][]byte, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: source.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: v.pod.Name, UID: v.pod.UID},
	}}
	if source.Audience != "" {
		request.Spec.Audiences = []string{source.Audience}
	}
	answer, err := v.client.CoreV1().ServiceAccounts(v.pod.Namespace).CreateToken(ctx, v.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{source.Path: []byte(answer.Status.Token)}, nil
}

// makeRoot makes the root directory of a container: its program and its mounts.
func makeRoot(root, program string, container corev1.Container, volumes map[string]map[string][]byte) error {
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		return err
	}
	if err := os.Link(program, filepath.Join(root, filepath.Base(program))); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644); err != nil {
		return err
	}
	for _, mount := range container.VolumeMounts {
		if mount.SubPath != "" || mount.SubPathExpr != "" {
			return fmt.Errorf("mount %s: subPath is not supported", mount.MountPath)
		}
		directory := filepath.Join(root, filepath.Clean("/"+mount.MountPath))
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return err
		}
		for path, content := range volumes[mount.Name] {
			file := filepath.Join(directory, filepath.Clean("/"+path))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func isTrue(value *bool) bool { return value != nil && *value }
