// Package suite is the conformance suite of the Gateway API as one program, and a test of the rig itself. The suite's
// own packages declare most of its flags.
package suite

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/config"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

var (
	channel  = flag.String("features-of", "", "test every feature of this channel, standard or experimental, instead of those that the GatewayClass declares")
	patience = flag.Duration("patience", 0, "wait so long at most for whatever the suite waits for")
	lenient  = flag.Bool("lenient", false, "run the tests even if the setup fails")
	list     = flag.String("list", "", "write what each test belongs to into this file, as JSON")
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
	if *patience > 0 {
		limitTimeouts(&options.TimeoutConfig, *patience)
	}
	if *lenient {
		runLeniently(t, options)
		return
	}
	conformance.RunConformanceWithOptions(t, options)
}

// limitTimeouts is for a gateway under work: with the suite's own times, a run in which most tests fail takes hours.
func limitTimeouts(timeouts *config.TimeoutConfig, longest time.Duration) {
	fields := reflect.ValueOf(timeouts).Elem()
	for i := range fields.NumField() {
		if value, is := fields.Field(i).Addr().Interface().(*time.Duration); is {
			*value = min(*value, longest)
		}
	}
}

// runLeniently contains the failure of the setup in a test of its own.
func runLeniently(t *testing.T, options suite.ConformanceOptions) {
	options.CleanupBaseResources = false
	conformanceSuite, err := suite.NewConformanceTestSuite(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Setup", func(t *testing.T) { conformanceSuite.Setup(t, tests.ConformanceTests) })
	if err := conformanceSuite.Run(t, tests.ConformanceTests); err != nil {
		t.Fatal(err)
	}
}

// featuresOf lists what a gateway can support: the features of meshes are not among them. TLSRouteModeMixed needs no field
// of the experimental channel, and a gateway that has it fails a test of those that do not claim it.
func featuresOf(channel string) []features.FeatureName {
	mesh := features.SetsToNamesSet(features.MeshCoreFeatures, features.MeshExtendedFeatures)
	var names []features.FeatureName
	for _, feature := range features.AllFeatures.UnsortedList() {
		inChannel := feature.Channel == features.FeatureChannelStandard || string(feature.Channel) == channel
		if !mesh.Has(feature.Name) && (inChannel || feature.Name == features.SupportTLSRouteModeMixed) {
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
