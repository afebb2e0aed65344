// A plugin: greets the upstream, and refuses requests that ask for tea.
var greeting = new TykJS.TykMiddleware.NewMiddleware({});

greeting.NewProcessRequest(function (request, session, config) {
  if (request.Params["drink"] && request.Params["drink"][0] === "tea") {
    request.ReturnOverrides.ResponseCode = 418;
    request.ReturnOverrides.ResponseError = "No tea here";
    return greeting.ReturnData(request, {});
  }
  request.SetHeaders["X-Greeting"] = config.config_data.greeting;
  request.DeleteHeaders.push("X-Secret");
  return greeting.ReturnData(request, {});
});
