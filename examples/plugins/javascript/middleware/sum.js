// A virtual endpoint: adds the numbers in the query.
function sum(request, session, config) {
  var numbers = (request.Params["n"] || []).map(Number);
  var total = numbers.reduce(function (a, b) { return a + b }, 0);
  return TykJsResponse({
    Body: JSON.stringify({ sum: total }),
    Headers: { "Content-Type": "application/json" },
    Code: isNaN(total) ? 400 : 200
  }, session.meta_data);
}
