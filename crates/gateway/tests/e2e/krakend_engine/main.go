// KrakenD's engine. Usage: krakend_engine FILE
//
// Serves a krakend.json until it is ended, with the parser, router, proxies and validators of KrakenD. It has no rate limits, CORS, security
// headers, Lua and Martian, which are other modules.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	botdetector "github.com/krakendio/krakend-botdetector/v2/gin"
	cel "github.com/krakendio/krakend-cel/v2"
	breaker "github.com/krakendio/krakend-circuitbreaker/v2/gobreaker"
	breakerproxy "github.com/krakendio/krakend-circuitbreaker/v2/gobreaker/proxy"
	httpcache "github.com/krakendio/krakend-httpcache/v2"
	jose "github.com/krakendio/krakend-jose/v2"
	ginjose "github.com/krakendio/krakend-jose/v2/gin"
	jsonschema "github.com/krakendio/krakend-jsonschema/v2"
	viper "github.com/krakendio/krakend-viper/v2"
	"github.com/luraproject/lura/v2/config"
	"github.com/luraproject/lura/v2/logging"
	"github.com/luraproject/lura/v2/proxy"
	"github.com/luraproject/lura/v2/router/gin"
	"github.com/luraproject/lura/v2/transport/http/client"
	"github.com/luraproject/lura/v2/transport/http/server"
)

// What settings are called in files, and in modules.
var names = map[string]string{
	"auth/validator":         jose.ValidatorNamespace,
	"backend/http":           client.Namespace,
	"proxy":                  proxy.Namespace,
	"qos/circuit-breaker":    breaker.Namespace,
	"qos/http-cache":         httpcache.Namespace,
	"router":                 gin.Namespace,
	"security/bot-detector":  "github_com/devopsfaith/krakend-botdetector",
	"validation/cel":         "github.com/devopsfaith/krakend-cel",
	"validation/json-schema": jsonschema.Namespace,
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: krakend_engine FILE")
	}
	for name, module := range names {
		config.ExtraConfigAlias[name] = module
	}
	settings, err := viper.New().Parse(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	settings.Normalize()
	logger, err := logging.NewLogger("WARNING", os.Stderr, "krakend_engine")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	engine := gin.NewEngine(settings, gin.EngineOptions{Logger: logger, Writer: os.Stderr})
	botdetector.Register(settings, logger, engine)
	router := gin.NewFactory(gin.Config{
		Engine:         engine,
		ProxyFactory:   endpoints(logger),
		HandlerFactory: handlers(logger),
		Logger:         logger,
		RunServer:      server.RunServerWithLoggerFactory(logger),
	})
	router.NewWithContext(ctx).Run(settings)
}

// What happens between a request and its backends, and between their responses and the answer.
func endpoints(logger logging.Logger) proxy.Factory {
	backends := func(backend *config.Backend) proxy.Proxy {
		clients := httpcache.NewHTTPClient(backend, client.NewHTTPClient)
		return proxy.NewHTTPProxy(backend, clients, backend.Decoder)
	}
	limited := breakerproxy.BackendFactory(cel.BackendFactory(logger, backends), logger)
	merged := proxy.NewShadowFactory(proxy.NewDefaultFactory(limited, logger))
	return cel.ProxyFactory(logger, jsonschema.ProxyFactory(logger, merged))
}

// Who may ask.
func handlers(logger logging.Logger) gin.HandlerFactory {
	rejecters := jose.RejecterFactoryFunc(func(logger logging.Logger, endpoint *config.EndpointConfig) jose.Rejecter {
		if rejecter := cel.NewRejecter(logger, endpoint); rejecter != nil {
			return rejecter
		}
		return jose.FixedRejecter(false)
	})
	open := gin.CustomErrorEndpointHandler(logger, server.DefaultToHTTPError)
	return botdetector.New(ginjose.HandlerFactory(open, logger, rejecters), logger)
}
