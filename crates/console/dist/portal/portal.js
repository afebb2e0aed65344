import{$,Ago,Badge,Button,Copy,D,Dialog,E,Empty,ErrorBox,Fact,Facts,Failure,Field,LinkButton,Meter,Note,Panel,S,Toasts,base,call,count,developer,ended,enter,facts,
full,get,go,he,i,k,link,load,own,ownKeys,pages,route,saveFile,say,segment,signOut,silent,useLoaded,w}from"./chunk.js";var phone=matchMedia("(max-width: 719px)"),narrow=D(phone.matches);phone.addEventListener("change",()=>{narrow.value=phone.matches});var night=matchMedia("(pref\
ers-color-scheme: dark)"),theme=D(localStorage.getItem("theme")??"system"),dark=D(night.matches),update=()=>{dark.value=theme.value==="dark"||theme.value==="sys\
tem"&&night.matches};night.addEventListener("change",update);k(()=>{localStorage.setItem("theme",theme.value),update(),document.documentElement.dataset.theme=dark.
value?"dark":"light"});var Boundary=class extends E{state={fault:null};componentDidCatch(fault){this.setState({fault}),reportError(fault)}render(){let{fault}=this.state;return fault?i(
Note,{tone:"bad",icon:"alert",actions:i(Button,{icon:"refresh",onClick:()=>location.reload(),children:"Reload"}),children:["This page failed to show what the ga\
teway sent. Traffic is not affected. ",i("small",{children:fault.message})]}):this.props.children}};function Door({title,action,send,children,above,below}){let[busy,setBusy]=w(!1),[refused,setRefused]=w(null);return i("div",{class:"door",children:i("form",{class:"\
panel",onSubmit:async event=>{event.preventDefault();let form=new FormData(event.currentTarget);setBusy(!0),setRefused(null);try{await send(form)}catch(failure){
setRefused(`${failure.message.replace(/[.]?$/,".")}`)}finally{setBusy(!1)}},children:[i("h1",{children:title}),above,children,refused&&i("p",{class:"bad",role:"\
alert",children:refused}),i(Button,{kind:"primary",type:"submit",disabled:busy,children:action}),below]})})}var text=(form,name)=>String(form.get(name)??"");function Mail(){
return i(Field,{label:"Mail address",children:i("input",{name:"mail",type:"email",autocomplete:"username",required:!0,autofocus:!0})})}function NewPassword({label="\
Password"}){return i(Field,{label,hint:"At least 12 characters.",children:i("input",{name:"password",type:"password",autocomplete:"new-password",minLength:12,required:!0})})}
var REFUSED={refused:"The provider's answer is no proof of who you are. Try again.",unreachable:"The provider can't be asked at the moment. Try again later.",no_mail:"\
The provider does not say that it has verified a mail address of yours.",suspended:"An operator has suspended this account.",invitation:"An account needs an inv\
itation.",domain:"Accounts are for mail addresses of some domains, and yours is not one of them.",too_many:"Too many tries. Wait a while, then try again."};function Connect({
token}){return i(Door,{title:"Connect your account",action:"Connect",send:async form=>{enter(await call("POST","connection",{token,password:text(form,"password")})),
go("#/")},children:[i("p",{children:"There is an account with your mail address. Give its password once; from then on, the provider's sign-in leads into it."}),
i(Field,{label:"Password",children:i("input",{name:"password",type:"password",autocomplete:"current-password",required:!0,autofocus:!0})})]})}function SignIn(){
let send=async form=>{enter(await call("POST","session",{mail:text(form,"mail"),password:text(form,"password")})),location.hash.startsWith("#/sign-in")&&go("#/")},
refused=route.value.query.get("refused"),providers=facts.value?.providers??[];return i(Door,{title:"Sign in",action:"Sign in",send,above:i($,{children:[refused&&
i(Note,{tone:"bad",icon:"alert",children:REFUSED[refused]??REFUSED.refused}),providers.map(one=>i(LinkButton,{href:`sign-in/${one.name}`,children:["Sign in with\
 ",one.title]},one.name)),providers.length>0&&i("p",{children:"Or with a password:"})]}),below:i("p",{class:"row",children:[facts.value?.has_mail&&i("a",{href:"\
#/forgotten",children:"Forgotten the password?"}),facts.value?.signs_up&&i("a",{href:"#/sign-up",children:"Sign up"})]}),children:[i(Mail,{}),i(Field,{label:"Pa\
ssword",children:i("input",{name:"password",type:"password",autocomplete:"current-password",required:!0})})]})}function SignUp(){let[sent,setSent]=w(!1);if(sent)
return i("div",{class:"door",children:i("div",{class:"panel",children:[i("h1",{children:"Look into your mail"}),i("p",{children:"We have sent you a link to go o\
n with. It works for 24 hours."})]})});let send=async form=>{await call("POST","accounts",{mail:text(form,"mail"),name:text(form,"name")}),setSent(!0)},domains=facts.
value?.domains??[];return i(Door,{title:"Sign up",action:"Send the link",send,below:i("p",{children:i("a",{href:"#/sign-in",children:"Sign in instead"})}),children:[
domains.length>0&&i(Note,{children:["Accounts are for addresses of ",domains.join(", "),"."]}),i(Field,{label:"Your name",children:i("input",{name:"name",autocomplete:"\
name",required:!0,maxLength:100,autofocus:!0})}),i(Field,{label:"Mail address",children:i("input",{name:"mail",type:"email",autocomplete:"username",required:!0})})]})}
function Forgotten(){let[sent,setSent]=w(!1);return sent?i("div",{class:"door",children:i("div",{class:"panel",children:[i("h1",{children:"Look into your mail"}),
i("p",{children:"If there is an account with this address, a link is on its way. It works for an hour."})]})}):i(Door,{title:"Forgotten password",action:"Send a\
 link",send:async form=>{await call("POST","password/forgotten",{mail:text(form,"mail")}),setSent(!0)},children:i(Mail,{})})}function Welcome({token}){let[known,
setKnown]=w(!1),accept=async()=>{await call("POST","invitations",{token}),go("#/teams")};return developer.value?i(Door,{title:"Accept the invitation",action:"Ac\
cept",send:accept,children:i("p",{children:["You are signed in as ",developer.value.mail,"."]})}):known?i($,{children:[i("div",{class:"door",children:i(Note,{children:"\
There is an account with this address. Sign in to go on."})}),i(SignIn,{})]}):i(Door,{title:"Welcome",action:"Create the account",send:async form=>{let name=text(
form,"name");try{enter(await call("POST","password",{token,password:text(form,"password"),...name?{name}:{}})),go("#/")}catch(failure){if(failure instanceof Failure&&
failure.kind==="has_account")setKnown(!0);else throw failure}},children:[i("p",{children:"Choose a password for your account."}),i(NewPassword,{}),i(Field,{label:"\
Your name",hint:"Empty to keep the one you signed up with.",children:i("input",{name:"name",autocomplete:"name",maxLength:100})})]})}function Password({token}){
return i(Door,{title:"New password",action:"Save",send:async form=>{enter(await call("POST","password",{token,password:text(form,"password")})),go("#/")},children:i(
NewPassword,{})})}function Account(){let who=developer.value;if(!who)return null;let send=async event=>{event.preventDefault();let form=new FormData(event.currentTarget);try{enter(
await call("PUT","account",{name:String(form.get("name")??"")})),say("ok","Saved.")}catch(failure){say("bad",failure.message)}};return i($,{children:[i("h1",{class:"\
page",children:"Account"}),i(Panel,{children:i("div",{class:"body stack",children:[i(Facts,{children:i(Fact,{name:"Mail address",children:who.mail})}),i("form",
{class:"stack",onSubmit:send,children:[i(Field,{label:"Name",children:i("input",{name:"name",value:who.name,maxLength:100,required:!0})}),i("p",{class:"row",children:[
i(Button,{type:"submit",kind:"primary",children:"Save"}),i(Button,{icon:"out",onClick:()=>{signOut()},children:"Sign out"})]})]})]})}),who.has_password&&i(PasswordChange,
{mail:who.mail})]})}function PasswordChange({mail}){let[refused,setRefused]=w(null),[busy,setBusy]=w(!1),send=async event=>{event.preventDefault();let element=event.
currentTarget,form=new FormData(element);setBusy(!0),setRefused(null);try{enter(await call("POST","account/password",{old:String(form.get("old")??""),new:String(
form.get("password")??"")})),element.reset(),say("ok","The password is changed. Your other sessions have ended.")}catch(failure){setRefused(failure)}finally{setBusy(
!1)}};return i(Panel,{title:"Password",children:i("form",{class:"body stack",onSubmit:event=>{send(event)},children:[refused!==null&&i(ErrorBox,{failure:refused}),
i("input",{type:"text",autocomplete:"username",value:mail,readOnly:!0,hidden:!0}),i(Field,{label:"Old password",children:i("input",{name:"old",type:"password",autocomplete:"\
current-password",required:!0})}),i(NewPassword,{label:"New password"}),i("p",{class:"row",children:i(Button,{type:"submit",kind:"primary",disabled:busy,children:"\
Change the password"})})]})})}function remember(made,product,application){return made.secret||(ownKeys.value=[...ownKeys.value,{id:made.id,key:made.key,tail:made.key.slice(-4),product,application}]),
made}function forget(id){ownKeys.value=ownKeys.value.filter(one=>one.id!==id)}function NewKey({made:{key:made,secret},api,close}){return secret?i(NewClient,{id:made,
secret,api,close}):i(Dialog,{title:"Your key",close,footer:i(Button,{onClick:close,children:"Done"}),children:[i(Note,{tone:"warn",icon:"alert",children:"Keep t\
he key now: it is shown only once."}),i("pre",{class:"line",children:[i("code",{"data-key":!0,children:made}),i(Copy,{text:made,label:"Copy the key"})]}),api&&i(
FirstCall,{api,made})]})}function NewClient({id,secret,api,close}){let command=api&&`curl -u '${id}:${secret}' -d grant_type=client_credentials '${new URL(api.token_path,
base(api)).href}'`;return i(Dialog,{title:"Your client",close,footer:i(Button,{onClick:close,children:"Done"}),children:[i(Note,{tone:"warn",icon:"alert",children:"\
Keep the secret now: it is shown only once."}),i("p",{children:"Client id"}),i("pre",{class:"line",children:[i("code",{"data-key":!0,children:id}),i(Copy,{text:id,
label:"Copy the client id"})]}),i("p",{children:"Secret"}),i("pre",{class:"line",children:[i("code",{"data-secret":!0,children:secret}),i(Copy,{text:secret,label:"\
Copy the secret"})]}),command&&i($,{children:[i("p",{children:["A token, for the header ",i("code",{children:"Authorization: Bearer"}),":"]}),i("pre",{class:"li\
ne",children:[i("code",{children:command}),i(Copy,{text:command,label:"Copy the command"})]})]})]})}function FirstCall({api,made}){let[answer,setAnswer]=w(null),
url=base(api),command=`curl ${api.key_header&&`-H '${api.key_header}: ${made}' `}'${url}'`,send=async()=>{try{let response=await fetch(url,{headers:api.key_header?
{[api.key_header]:made}:{},credentials:"omit",referrerPolicy:"no-referrer"});setAnswer(`The gateway answered with status ${response.status}.`)}catch{setAnswer("\
The browser could not reach the gateway. Try the line above in a terminal.")}};return i($,{children:[i("p",{children:["A first call of ",api.name,":"]}),i("pre",
{class:"line",children:[i("code",{children:command}),i(Copy,{text:command,label:"Copy the command"})]}),facts.value?.try_it&&i("p",{class:"row",children:[i(Button,
{icon:"play",kind:"primary",onClick:()=>{send()},children:"Call it now"}),i("span",{role:"status",children:answer})]})]})}var pages2=null,fetched=()=>import("./later.js").then(found=>{pages2=found});function later(name){return function(props){let[failure,setFailure]=w(
null),[,again]=w(0),Page=pages2?.[name];return S(()=>{Page||fetched().then(()=>again(turn=>turn+1),setFailure)},[]),failure?i(ErrorBox,{failure:"This page could\
 not be loaded.",retry:()=>location.reload()}):Page?i(Page,{...props}):null}}var usagePath=application=>`applications/${encodeURIComponent(application.id)}/usage`;function endOf(key,used){let ends=[key.ends_unix_s,used?.keys.find(one=>one.
id===key.id)?.state?.ends_unix_s??0].filter(one=>one>0);return ends.length>0?Math.min(...ends):0}function Usage({application,found}){let path=usagePath(application);
if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});let keys=found.value?.keys;if(!keys?.length)return null;let refusals=keys.flatMap(
key=>key.refusals.map(refusal=>({key,refusal}))),save=async()=>{try{saveFile("usage.csv",await get(`${path}.csv`))}catch(failure){say("bad",failure.message)}},requests=key=>key.
usage.reduce((sum,row)=>sum+row.requests,0),good=key=>key.usage.reduce((sum,row)=>sum+row.good,0);return i($,{children:[i(Panel,{title:"Usage",note:"last 30 day\
s",actions:i($,{children:[i(Button,{icon:"refresh",kind:"quiet","aria-label":"Refresh",onClick:found.again}),i(Button,{icon:"download",onClick:()=>{save()},children:"\
CSV"})]}),children:[i("div",{class:"scroll-x",tabIndex:0,role:"region","aria-label":"Usage of keys",children:i("table",{class:"plain",children:[i("thead",{children:i(
"tr",{children:[i("th",{scope:"col",children:"Key"}),i("th",{scope:"col",children:"Product"}),i("th",{scope:"col",class:"number",children:"Requests"}),i("th",{scope:"\
col",class:"number",children:"Failed"}),i("th",{scope:"col",class:"number",children:"Rate"}),i("th",{scope:"col",children:"Quota"})]})}),i("tbody",{children:keys.
map(key=>i("tr",{children:[i("th",{scope:"row",children:i("code",{children:["…",key.tail]})}),i("td",{children:key.product}),i("td",{class:"number",children:count(
requests(key))}),i("td",{class:"number",children:count(requests(key)-good(key))}),i("td",{class:"number",children:key.state&&key.state.rate>0?`${count(key.state.
rate)} per ${key.state.per_s} s`:"no limit"}),i("td",{children:key.state?key.state.is_suspended?i(Badge,{tone:"bad",children:"suspended"}):key.state.quota_max>0?
i(Meter,{used:key.state.quota_max-key.state.quota_remaining,max:key.state.quota_max}):"no limit":i(Badge,{tone:"bad",children:"gone"})})]},key.id))})]})}),found.
value&&found.value.unrecorded.length>0&&i("div",{class:"body",children:i("p",{children:["Requests to ",found.value.unrecorded.join(", ")," are not recorded: the\
y are missing here."]})})]}),refusals.length>0&&i(Panel,{title:"Refused and failed requests",children:i("div",{class:"scroll-x",tabIndex:0,role:"region","aria-l\
abel":"Refused requests",children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"When"}),i("th",{scope:"\
col",children:"Key"}),i("th",{scope:"col",children:"Request"}),i("th",{scope:"col",children:"Status"}),i("th",{scope:"col",children:"Why"})]})}),i("tbody",{children:refusals.
map(({key,refusal},index)=>i("tr",{children:[i("td",{children:i(Ago,{at:refusal.unix_s})}),i("td",{children:i("code",{children:["…",key.tail]})}),i("td",{children:i(
"code",{children:[refusal.method," ",refusal.path]})}),i("td",{children:refusal.status||"none"}),i("td",{children:refusal.message||refusal.cause})]},index))})]})})})]})}var STATES={requested:["warn","waits for approval"],approved:["ok","approved"],rejected:["bad","rejected"],suspended:["bad","suspended"]},Costs=later("Costs"),hasPrice=product=>product.
plans.some(plan=>plan.price!==null);function Applications(){let found=useLoaded(()=>get("applications"),[]),teams=useLoaded(()=>get("teams"),[]),products=useLoaded(
()=>get("products"),[]),[adds,setAdds]=w(!1);if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});let list=found.value?.applications,team=id=>teams.
value?.teams.find(one=>one.id===id)?.name??"";return i($,{children:[i("div",{class:"page-head",children:[i("h1",{children:"Applications"}),products.value?.products.
some(hasPrice)&&i(LinkButton,{href:"#/invoices",children:"Invoices"}),i(Button,{icon:"plus",onClick:()=>setAdds(!0),children:"New application"})]}),list?.length===
0&&i(Empty,{icon:"key",title:"No applications yet",children:i(LinkButton,{href:"#/",children:"Find an API"})}),i("ul",{class:"cards",children:list?.map(one=>i("\
li",{class:"panel card",children:[i("h2",{children:i("a",{href:link(["applications",one.id]),children:i("bdi",{children:one.name})})}),i("p",{children:i("small",
{children:team(one.team)})}),i("p",{children:one.grants.map(grant=>i(Badge,{tone:STATES[grant.state][0],children:[grant.product,": ",STATES[grant.state][1]]},grant.
id))})]},one.id))}),adds&&teams.value&&i(Add,{teams:teams.value.teams,close:()=>setAdds(!1)})]})}function Add({teams,close}){let[refused,setRefused]=w(null);return i(
Dialog,{title:"New application",close,children:i("form",{class:"stack",onSubmit:async event=>{event.preventDefault();let form=new FormData(event.currentTarget);
try{let made=await call("POST","applications",{team:String(form.get("team")),name:String(form.get("name"))});go(link(["applications",made.id]))}catch(failure){setRefused(
failure)}},children:[refused!==null&&i(ErrorBox,{failure:refused}),i(Field,{label:"Name",children:i("input",{name:"name",maxLength:100,required:!0,autofocus:!0})}),
i(Field,{label:"Team",children:i("select",{name:"team",children:teams.map(team=>i("option",{value:team.id,children:team.name},team.id))})}),i("p",{class:"row en\
d",children:i(Button,{type:"submit",kind:"primary",children:"Create"})})]})})}function ApplicationPage({id}){let found=useLoaded(()=>get(`applications/${encodeURIComponent(
id)}`),[id,developer.value?.id]),products=useLoaded(()=>get("products"),[]),used=useLoaded(()=>found.value?.grants.some(grant=>grant.keys.length>0)?get(usagePath(
found.value)):Promise.resolve({keys:[],unrecorded:[]}),[id,found.value]);if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});let application=found.
value;if(!application)return null;let remove=async()=>{if(confirm(`Remove ${application.name}? Its keys stop working at once.`))try{await call("DELETE",`applica\
tions/${id}`),go("#/applications")}catch(failure){say("bad",failure.message)}};return i($,{children:[i("div",{class:"page-head",children:[i("h1",{children:i("bd\
i",{children:application.name})}),i(Button,{kind:"danger",icon:"trash",onClick:()=>{remove()},children:"Remove"})]}),application.grants.length===0&&i(Empty,{icon:"\
key",title:"No plans yet",children:i(LinkButton,{href:"#/",children:"Find an API"})}),application.grants.map(grant=>i(GrantPanel,{application,grant,product:products.
value?.products.find(one=>one.id===grant.product),used:used.value,again:found.again},grant.id)),application.grants.some(grant=>grant.keys.length>0)&&i(Usage,{application,
found:used}),products.value?.products.some(product=>hasPrice(product)&&application.grants.some(grant=>grant.product===product.id))&&i(Costs,{application})]})}function GrantPanel({
application,grant,product,used,again}){let[made,setMade]=w(null),[rotated,setRotated]=w(null),path=`applications/${application.id}/grants/${grant.id}`,run=async work=>{
try{await work(),again()}catch(failure){say("bad",failure.message)}},shown=key=>setMade(remember(key,grant.product,application.name)),add=()=>run(async()=>shown(
await call("POST",`${path}/keys`))),remove=key=>{confirm(`Remove the key that ends with ${key.tail}? It stops working at once.`)&&run(async()=>{await call("DELE\
TE",`${path}/keys/${key.id}`),forget(key.id)})},giveUp=()=>{confirm("Give this plan up? Its keys stop working at once.")&&run(()=>call("DELETE",path))},plan=product?.
plans.find(one=>one.id===grant.plan)?.name??grant.plan,[tone,words]=STATES[grant.state];return i(Panel,{title:product?.name??grant.product,note:plan,actions:i($,
{children:[i(Badge,{tone,children:words}),grant.state==="approved"&&i(Button,{icon:"plus",onClick:()=>{add()},children:"New key"}),grant.state!=="suspended"&&i(
Button,{kind:"quiet",icon:"trash","aria-label":`Give up ${product?.name??grant.product}`,onClick:giveUp})]}),children:[grant.answer&&i("p",{class:"body",children:[
"The answer says: ",i("bdi",{children:grant.answer})]}),i("ul",{class:"body rows",children:[grant.keys.map(key=>i("li",{children:[i("div",{children:[i("code",{children:[
"…",key.tail]}),i("small",{children:["made ",i(Ago,{at:key.created_unix_s}),i(Ends,{at:endOf(key,used)})]})]}),key.ends_unix_s===0&&grant.state==="approved"&&
i(Button,{icon:"refresh",onClick:()=>setRotated(key),children:"Rotate"}),i(Button,{kind:"quiet",icon:"trash","aria-label":`Remove the key that ends with ${key.tail}`,
onClick:()=>remove(key)})]},key.id)),grant.keys.length===0&&grant.state==="approved"&&i("li",{children:"There are no keys yet."})]}),made&&i(NewKey,{made,api:product?.
apis[0],close:()=>setMade(null)}),rotated&&i(Rotate,{path:`${path}/keys/${rotated.id}/rotate`,close:()=>setRotated(null),done:key=>{setRotated(null),shown(key),
again()}})]})}function Ends({at}){return at<=0?null:i($,{children:[", ",at*1e3<Date.now()?"ended":"ends"," ",i(Ago,{at})," (",full(at),")"]})}function Rotate({path,
close,done}){let[refused,setRefused]=w(null);return i(Dialog,{title:"Rotate the key",close,children:i("form",{class:"stack",onSubmit:async event=>{event.preventDefault();
let form=new FormData(event.currentTarget);try{done(await call("POST",path,{overlap_s:Number(form.get("overlap"))}))}catch(failure){setRefused(failure)}},children:[
refused!==null&&i(ErrorBox,{failure:refused}),i(Field,{label:"The old key goes on working for",children:i("select",{name:"overlap",children:[i("option",{value:"\
3600",children:"an hour"}),i("option",{value:"86400",selected:!0,children:"a day"}),i("option",{value:"604800",children:"a week"}),i("option",{value:"2592000",children:"\
30 days"}),i("option",{value:"0",children:"no time"})]})}),i("p",{class:"row end",children:i(Button,{type:"submit",kind:"primary",children:"Make a new key"})})]})})}var Markdown=later("Markdown"),KINDS={openapi:"OpenAPI",graphql:"GraphQL",mcp:"MCP"};function Catalogue(){let found=useLoaded(()=>get("products"),[developer.value?.
id]);if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});let products=found.value?.products;return i($,{children:[i("h1",{class:"page",
children:"APIs"}),products?.length===0&&i(Empty,{icon:"api",title:"Nothing is published yet",children:!developer.value&&i($,{children:["Some APIs may be shown o\
nly to those who ",i("a",{href:"#/sign-in",children:"sign in"}),"."]})}),i("ul",{class:"cards",children:products?.map(product=>i("li",{class:"panel card",children:[
i("h2",{children:i("a",{href:link(["products",product.id]),children:product.name})}),i("p",{children:product.summary}),i("p",{children:product.apis.map(api=>i(Badge,
{tone:"muted",children:KINDS[api.kind]??api.name},api.id))})]},product.id))})]})}function ProductPage({id}){let found=useLoaded(async()=>{let renderer=fetched().
catch(()=>{}),product2=await get(`products/${segment(id)}`);return product2.description&&await renderer,product2},[id,developer.value?.id]),[asked,setAsked]=w(null);
if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});let product=found.value;return product?i($,{children:[i("h1",{class:"page",children:product.
name}),product.summary&&i("p",{class:"lead",children:product.summary}),product.description&&i(Panel,{class:"prose",children:i(Markdown,{text:product.description})}),
i(Panel,{title:"Plans",children:i("ul",{class:"body rows",children:[product.plans.map(plan=>i("li",{children:[i("div",{children:[i("strong",{children:plan.name}),
i("small",{children:plan.summary}),plan.price&&i("small",{children:inWords(plan.price)})]}),!plan.is_automatic&&i(Badge,{tone:"muted",children:"needs approval"}),
i(Button,{kind:"primary",onClick:()=>developer.value?setAsked(plan):go("#/sign-in"),children:["Choose ",plan.name]})]},plan.id)),product.plans.length===0&&i("li",
{children:"There are no plans to choose from."})]})}),i(Panel,{title:"APIs",children:i("ul",{class:"body rows",children:product.apis.map(api=>i("li",{children:[
i("div",{children:[i("strong",{children:api.name}),i("small",{children:i("code",{children:api.listen_path})})]}),i(Badge,{tone:"muted",children:KINDS[api.kind]??
"HTTP"}),i("a",{href:link(["products",product.id,"apis",api.id]),children:["Documentation of ",api.name]})]},api.id))})}),asked&&i(Ask,{product,plan:asked,close:()=>setAsked(
null)})]}):null}function inWords({currency,per_month,per_call,free_calls}){let is=amount=>/[1-9]/.test(amount),calls=free_calls>0?`a call after ${count(free_calls)}\
 free ones in a month`:"a call";return[is(per_month)&&`${per_month} ${currency} a month`,is(per_call)&&`${per_call} ${currency} ${calls}`].filter(Boolean).join(
", ")||"free of charge"}function Ask({product,plan,close}){let found=useLoaded(()=>get("applications"),[plan.id]),[made,setMade]=w(null),[refused,setRefused]=w(
null),[busy,setBusy]=w(!1),applications=found.value?.applications.filter(one=>!one.grants.some(grant=>grant.product===product.id&&grant.state!=="rejected"));if(made)
return i(NewKey,{made,api:product.apis[0],close:()=>go(link(["applications",made.application]))});let send=async event=>{event.preventDefault();let form=new FormData(
event.currentTarget);setBusy(!0),setRefused(null);try{let chosen=String(form.get("application")??""),{id:application,name}=applications?.find(one=>one.id===chosen)??
await call("POST","applications",{team:developer.value?.teams[0],name:String(form.get("name")??"")}),{grant}=await call("POST",`applications/${application}/gran\
ts`,{product:product.id,plan:plan.id,reason:String(form.get("reason")??"")});if(!plan.is_automatic)return go(link(["applications",application]));let key=remember(
await call("POST",`applications/${application}/grants/${grant}/keys`),product.id,name);setMade({...key,application})}catch(failure){setRefused(failure)}finally{
setBusy(!1)}};return i(Dialog,{title:`${product.name}: ${plan.name}`,close,children:i("form",{class:"stack",onSubmit:send,children:[refused!==null&&i(ErrorBox,{
failure:refused}),applications&&applications.length>0&&i(Field,{label:"Application",children:i("select",{name:"application",children:[applications.map(one=>i("o\
ption",{value:one.id,children:one.name},one.id)),i("option",{value:"",children:"A new one"})]})}),i(Field,{label:"Name of a new application",children:i("input",
{name:"name",maxLength:100,value:`My ${product.name} application`,required:!0})}),!plan.is_automatic&&i(Field,{label:"What do you need it for?",children:i("text\
area",{name:"reason",rows:3,maxLength:1e3})}),i("p",{class:"row end",children:i(Button,{type:"submit",kind:"primary",disabled:busy||!found.value,children:plan.is_automatic?
"Get a key":"Ask for access"})})]})})}var GuidePage=later("GuidePage"),ApiDocument=later("ApiDocument"),Teams=later("Teams"),InvoicesPage=later("InvoicesPage"),Search=later("Search");function Frame(){
let{parts}=route.value,[menu,setMenu]=w(!1);if(S(()=>{setMenu(!1),document.title=[facts.value?.name].filter(Boolean).join(" - ")},[route.value,facts.value]),silent.
value)return i("main",{class:"door",children:i(Note,{tone:"bad",icon:"alert",actions:i(Button,{onClick:()=>{load()},children:"Retry"}),children:silent.value})});
if(!facts.value)return null;let at=parts[0]??"",current=place=>place===at||place===""&&at==="products"?"page":void 0;return i("div",{class:"portal",children:[i(
"a",{class:"skip",href:"#content",onClick:event=>{event.preventDefault(),document.getElementById("content")?.focus()},children:"Skip to the content"}),i("header",
{class:"bar-top",children:[i("a",{class:"brand",href:"#/",children:[facts.value.has_logo&&i("img",{src:"logo",alt:""}),facts.value.name]}),i(Button,{class:"menu",
icon:"menu",kind:"quiet","aria-label":"Menu","aria-expanded":menu,onClick:()=>setMenu(!menu)}),i("nav",{"aria-label":"Pages",class:menu?"open":"",children:[i("a",
{href:"#/","aria-current":current(""),children:"APIs"}),pages.value.map(page=>i("a",{href:link(["pages",page.id]),"aria-current":at==="pages"&&parts[1]===page.id?
"page":void 0,children:page.title},page.id)),developer.value&&i("a",{href:"#/applications","aria-current":current("applications"),children:"Applications"}),developer.
value&&i("a",{href:"#/teams","aria-current":current("teams"),children:"Teams"}),i("a",{href:"#/search","aria-current":current("search"),children:"Search"})]}),i(
"div",{class:"who-is",children:[i(Button,{icon:dark.value?"sun":"moon",kind:"quiet","aria-label":dark.value?"Light colours":"Dark colours",onClick:()=>{theme.value=
dark.value?"light":"dark"}}),developer.value?i($,{children:[i(LinkButton,{kind:"quiet",icon:"client",href:"#/account",children:i("bdi",{children:developer.value.
name})}),i(Button,{icon:"out",kind:"quiet","aria-label":"Sign out",onClick:()=>{signOut()}})]}):i($,{children:[i(LinkButton,{kind:"quiet",href:"#/sign-in",children:"\
Sign in"}),facts.value.signs_up&&i(LinkButton,{kind:"primary",href:"#/sign-up",children:"Sign up"})]})]})]}),i("main",{id:"content",tabIndex:-1,children:i(Boundary,
{children:view(parts)},parts.join("/"))})]})}function view(parts){let[place="",one="",more="",third=""]=parts,inside=page=>developer.value?page:i(SignIn,{});switch(place){case"":
return i(Catalogue,{});case"products":return more==="apis"?i(ApiDocument,{product:one,api:third}):i(ProductPage,{id:one});case"pages":return i(GuidePage,{id:one});case"\
search":return i(Search,{});case"sign-in":return developer.value?i(Catalogue,{}):i(SignIn,{});case"sign-up":return i(SignUp,{});case"forgotten":return i(Forgotten,
{});case"welcome":return i(Welcome,{token:one});case"connect":return i(Connect,{token:one});case"password":return i(Password,{token:one});case"applications":return inside(
one?i(ApplicationPage,{id:one}):i(Applications,{}));case"invoices":return inside(i(InvoicesPage,{}));case"teams":return inside(i(Teams,{}));case"account":return inside(
i(Account,{}));default:return i(Missing,{})}}function Missing({failure}){let words=failure instanceof Failure?failure.message:"There is no such page";return i($,
{children:[i("h1",{class:"sr",children:words}),i(Empty,{title:words,children:i(LinkButton,{href:"#/",children:"All APIs"})})]})}own.header="X-Tollgate-Portal";function App(){return S(()=>{load()},[ended.value]),i($,{children:[i(Frame,{}),i(Toasts,{})]})}var root=document.getElementById("\
app");root&&he(i(App,{}),root);
