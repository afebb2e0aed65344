// Package suite is the conformance suite of the Gateway API as one program, and a test of the rig itself. The suite's
// own packages declare most of its flags.
package suite

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

var (
	channel = flag.String("features-of", "", "test every feature of this channel, standard or experimental, instead of those that the GatewayClass declares")
	list    = flag.String("list", "", "write what each test belongs to into this file, as JSON")
)

var profiles = []suite.ConformanceProfile{
	suite.GatewayHTTPConformanceProfile,
	suite.GatewayGRPCConformanceProfile,
	suite.GatewayTLSConformanceProfile,
	suite.GatewayTCPConformanceProfile,
	suite.GatewayUDPConformanceProfile,
}

func TestConformance(t *testing.T) {
	options := conformance.DefaultOptions(t)
	if *channel != "" {
		options.SupportedFeatures = featuresOf(*channel)
	}
	if *list != "" {
		writeList(t, *list)
	}
	conformance.RunConformanceWithOptions(t, options)
}

// featuresOf lists what a gateway can support: the features of meshes are not among them.
func featuresOf(channel string) []features.FeatureName {
	mesh := features.SetsToNamesSet(features.MeshCoreFeatures, features.MeshExtendedFeatures)
	var names []features.FeatureName
	for _, feature := range features.AllFeatures.UnsortedList() {
		if !mesh.Has(feature.Name) && (feature.Channel == features.FeatureChannelStandard || string(feature.Channel) == channel) {
			names = append(names, feature.Name)
		}
	}
	slices.Sort(names)
	return names
}

type listed struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
	// The level of the test, core or extended, in each profile that has it.
	Profiles map[string]string `json:"profiles"`
}

func writeList(t *testing.T, path string) {
	var all []listed
	for _, test := range tests.ConformanceTests {
		entry := listed{Name: test.ShortName, Profiles: map[string]string{}}
		for _, feature := range test.Features {
			entry.Features = append(entry.Features, string(feature))
		}
		for _, profile := range profiles {
			if level := levelIn(profile, test); level != "" {
				entry.Profiles[string(profile.Name)] = level
			}
		}
		all = append(all, entry)
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func levelIn(profile suite.ConformanceProfile, test suite.ConformanceTest) string {
	level := "core"
	for _, feature := range test.Features {
		switch {
		case profile.CoreFeatures.Has(feature):
		case profile.ExtendedFeatures.Has(feature):
			level = "extended"
		default:
			return ""
		}
	}
	return level
}
