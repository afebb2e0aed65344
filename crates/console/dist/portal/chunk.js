var h,ee,_e,S,V,A,ne,R,te,q,G,oe,N=Symbol.for("pv"),F={},H=[],de=/^m(i|n|o|s|text|space)$/,I=Array.isArray,j=H.slice,P=Object.assign;function W(_3){_3&&_3.parentNode&&
_3.remove()}function re(_3,e2,n){var r,l2,t,i3={},u2=arguments.length;for(t in e2)t=="key"?r=e2[t]:t=="ref"&&typeof _3!="function"?l2=e2[t]:i3[t]=e2[t];return u2>
2&&(i3.children=u2>3?j.call(arguments,2):n),D(_3,i3,r,l2,null)}function D(_3,e2,n,r,l2){var t={type:_3,props:e2,key:n,ref:r,__k:null,__:null,__b:0,__e:null,__c:null,constructor:N,__v:l2||++ee,__i:-1,__u:0};return!l2&&h.vnode&&
h.vnode(t),t}function $(_3){return _3.children}function E(_3,e2){this.props=_3,this.context=e2,this.__g=0}function T(_3,e2){if(e2==null)return _3.__&&T(_3.__,_3.__i+1);for(var n;e2<
_3.__k.length;e2++)if((n=_3.__k[e2])&&n.__e)return n.__e;return typeof _3.type!="function"||_3.props.__P?null:T(_3)}function ve(_3){var e2,n=_3.__v,r=n.__e,l2=[],
t=[],i3=_3.__P;i3&&((e2=P({constructor:N},n)).__v=n.__v+1,h.vnode&&h.vnode(e2),K(i3,e2,n,_3.__n,i3.namespaceURI,32&n.__u?[r]:null,l2,r||T(n),32&n.__u,t),e2.__v=
n.__v,e2.__.__k[e2.__i]=e2,ae(l2,e2,t),n.__=n.__e=null,e2.__e!=r&&ie(e2))}function ie(_3){if((_3=_3.__)&&_3.__c&&!_3.props.__P)return _3.__e=null,_3.__k.some(function(e2){
return e2&&(_3.__e=e2.__e)}),ie(_3)}function J(_3){(8&_3.__g||(_3.__g|=8,S.push(_3),A++))&&V==h.debounceRendering||((V=h.debounceRendering)||queueMicrotask)(le)}
function le(){try{for(var _3,e2=1;S.length;)S.length>e2&&S.sort(ne),_3=S.shift(),e2=S.length,8&_3.__g&&ve(_3)}finally{(A=S.length)&&(V||queueMicrotask)(le)}}function ue(_3,e2,n,r,l2,t,i3,u2,p2,m3,s3){
var v3,d4,o2,c3,k3,a3,g4=r.__k||H,f2=e2.length;for(p2=me(n,e2,g4,p2,f2),v3=0;v3<f2;v3++)(o2=n.__k[v3])!=null&&(d4=~o2.__i&&g4[o2.__i]||F,o2.__i=v3,a3=K(_3,o2,d4,
l2,t,i3,u2,p2,m3,s3),c3=o2.__e,(d4.ref!=o2.ref||8&d4.__u)&&(d4.ref&&Q(d4.ref,null,o2,d4),o2.ref&&s3.push(o2.ref,o2.__c||c3,o2)),k3=k3||c3,4&o2.__u?(p2=se(o2,p2,
_3,!d4.__v),d4.__e&&(d4.__e=null)):typeof o2.type=="function"&&a3!==void 0?p2=a3:c3&&(p2=c3.nextSibling),o2.__u&=-21);return n.__e=k3,p2}function me(_3,e2,n,r,l2){
var t,i3,u2,p2,m3,s3,v3,d4,o2,c3=n.length,k3=c3,a3=0,g4=0,f2=_3.__k=Array(l2);for(t=0;t<l2;t++)(i3=e2[t])!=null&&typeof i3!="boolean"&&typeof i3!="function"?(typeof i3!=
"object"||i3.constructor===String?i3=f2[t]=D(null,i3):I(i3)?i3=f2[t]=D($,{children:i3}):i3.constructor===N&&i3.__b?i3=f2[t]=D(i3.type,i3.props,i3.key,i3.ref,i3.
__v):f2[t]=i3,p2=t+a3,i3.__=_3,i3.__b=_3.__b+1,u2=null,~(m3=i3.__i=ke(i3,n,p2,k3))&&(k3--,(u2=n[m3])&&(u2.__u|=2)),u2&&u2.__v?(i3.__u|=16,m3==p2-1?a3--:m3==p2+1?
a3++:m3!=p2&&(m3>p2?a3--:a3++,g4=1)):(~m3||(l2>c3?a3--:l2<c3&&a3++),typeof i3.type!="function"&&(i3.__u|=4))):f2[t]=null;if(g4){for(s3=[],v3=[],t=0;t<l2;t++)if((i3=
f2[t])&&16&i3.__u){for(a3=0,d4=s3.length;a3<d4;)s3[o2=a3+d4>>1]<i3.__i?a3=o2+1:d4=o2;s3[a3]=i3.__i,v3[t]=a3+1}for(a3=s3.length;t--;)v3[t]&&(v3[t]==a3?a3--:f2[t].
__u|=4)}if(k3)for(t=0;t<c3;t++)!(u2=n[t])||2&u2.__u||(u2.__e==r&&(r=T(u2)),X(u2,u2));return r}function se(_3,e2,n,r){var l2,t,i3,u2;if(typeof _3.type=="function"){
if(_3.props.__P)return e2;if(l2=_3.__k)for(t=0;t<l2.length;t++)l2[t]&&(l2[t].__=_3,e2=se(l2[t],e2,n,!1));return e2}for(e2&&!e2.parentNode&&(e2=T(_3))&&!e2.parentNode&&
(e2=null),i3=_3.__e,u2=e2;u2&&u2.nodeType==8;)u2=u2.nextSibling;for(i3!=u2&&(!r&&n.moveBefore&&i3.parentNode?n.moveBefore(i3,e2):n.insertBefore(i3,e2||null)),e2=
i3;(e2=e2&&e2.nextSibling)&&e2.nodeType==8&&!e2.data.startsWith("$s"););return e2}function ke(_3,e2,n,r){var l2,t=_3.key,i3=_3.type,u2=e2[n],p2=u2&&!(2&u2.__u);if(u2===null&&t==null||p2&&t==u2.key&&i3==u2.type)return n;if(r>(p2?1:0)){for(l2=n-
1;l2>=0;l2--)if((u2=e2[l2])&&!(2&u2.__u)&&t==u2.key&&i3==u2.type)return l2;for(l2=n+1;l2<e2.length;l2++)if((u2=e2[l2])&&!(2&u2.__u)&&t==u2.key&&i3==u2.type)return l2}
return-1}function fe(_3,e2,n){n==null&&(n=""),e2[0]=="-"?_3.setProperty(e2,n):_3[e2]=n}function B(_3,e2,n,r,l2){var t,i3;if(e2=="style")if(typeof n=="string")_3.
style.cssText=n;else{if(typeof r=="string"&&(_3.style.cssText=r=""),r)for(e2 in r)n&&e2 in n||fe(_3.style,e2);if(n)for(e2 in n)r&&n[e2]==r[e2]||fe(_3.style,e2,n[e2])}else if(e2[0]==
"o"&&e2[1]=="n")typeof n!="function"&&(n=null),typeof r!="function"&&(r=null),(_3.__e||(_3.__e={}))[e2]=n,n&&r||(i3=G[e2]||(G[e2]=be(e2)),(_3.__a||(_3.__a={}))[e2]=
q,t=e2!=(e2=e2.replace(te,"$1")),(e2=e2.slice(2))[0]<"a"&&(e2=e2.toLowerCase()),n?_3.addEventListener(e2,i3,t):_3.removeEventListener(e2,i3,t));else{if(l2=="htt\
p://www.w3.org/2000/svg")e2=e2.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(e2!="width"&&e2!="height"&&e2!="href"&&e2!="list"&&e2!="form"&&e2!="tabI\
ndex"&&e2!="download"&&e2!="rowSpan"&&e2!="colSpan"&&e2!="role"&&e2!="popover"&&e2 in _3)try{return void(_3[e2]=n??"")}catch{}if(typeof n=="function")return;n==
null||n===!1&&e2[4]!="-"?_3.removeAttribute(e2):_3.setAttribute(e2,e2=="popover"&&n==1?"":n)}}function be(_3){return function(e2){var n=this.__e;if(n){if(n=n[_3],
e2[R]==null)e2[R]=q++;else if(e2[R]<this.__a[_3])return;return n(h.event?h.event(e2):e2)}}}function K(_3,e2,n,r,l2,t,i3,u2,p2,m3){var s3,v3,d4,o2,c3,k3,a3,g4,f2,
b3,y4,O3,Y,L,M3,Z2,C2,U3,x3=e2.type;if(e2.constructor!==N)return null;128&n.__u&&(p2=32&n.__u,s3=n.__c.__z)&&(e2.__u|=p2,v3=t=[],s3.nodeType==8?u2=z(s3,t):t.push(
s3),u2=t[0]||u2),(s3=h.__b)&&s3(e2);e:if(typeof x3=="function"){d4=i3.length;try{if(g4=e2.props,f2=(s3=x3.prototype)&&s3.render,b3=(s3=x3.contextType)&&r[s3.__c],
y4=s3?b3?b3.props.value:s3.__:r,(o2=n.__c)?(e2.__c=o2,2&o2.__g&&(o2.__g|=1)):(f2?e2.__c=o2=new x3(g4,y4):(e2.__c=o2=new E(g4,y4),o2.constructor=x3,o2.render=xe),
b3&&b3.sub(o2),o2.state||(o2.state={}),o2.__n=r,o2.__g|=8,o2.__h=[],o2.__k=[]),f2&&(o2.__s||(o2.__s=o2.state),x3.getDerivedStateFromProps&&(o2.__s==o2.state&&(o2.
__s=P({},o2.__s)),P(o2.__s,x3.getDerivedStateFromProps(g4,o2.__s)))),c3=o2.props,k3=o2.state,o2.__v=e2,n.__c){if(g4!==c3&&f2&&!x3.getDerivedStateFromProps&&o2.componentWillReceiveProps&&
o2.componentWillReceiveProps(g4,y4),e2.__v==n.__v&&!(8&o2.__g)||!(4&o2.__g)&&o2.shouldComponentUpdate&&o2.shouldComponentUpdate(g4,o2.__s,y4)===!1){e2.__v!=n.__v&&
(o2.props=g4,o2.state=o2.__s,o2.__g&=-9),e2.__e=n.__e,e2.__k=n.__k,e2.__k.some(function(w3){w3&&(w3.__=e2)}),H.push.apply(o2.__h,o2.__k),o2.__k=[],o2.__h.length&&
i3.push(o2),u2=T(n);break e}o2.componentWillUpdate&&o2.componentWillUpdate(g4,o2.__s,y4),f2&&o2.componentDidUpdate&&o2.__h.push(function(){o2.componentDidUpdate(
c3,k3,a3)})}else f2&&!x3.getDerivedStateFromProps&&o2.componentWillMount&&o2.componentWillMount(),f2&&o2.componentDidMount&&o2.__h.push(o2.componentDidMount);o2.
context=y4,o2.props=g4,o2.__P=_3,o2.__g&=-5,O3=h.__r,Y=f2?25:0;do o2.__g&=-9,O3&&O3(e2),s3=o2.render(o2.props,o2.state=o2.__s,o2.context);while(8&o2.__g&&++Y<25);
f2&&(H.push.apply(o2.__h,o2.__k),o2.__k=[]),o2.state=o2.__s,o2.getChildContext&&(r=P({},r,o2.getChildContext())),f2&&n.__c&&o2.getSnapshotBeforeUpdate&&(a3=o2.getSnapshotBeforeUpdate(
c3,k3)),L=s3&&s3.type===$&&s3.key==null?s3.props.children:s3,g4.__P&&(s3=u2,l2=(_3=g4.__P).namespaceURI,p2=t=null,n.props&&n.props.__P!=_3&&(n.__k.some(function(w3){
w3&&X(w3,w3)}),n.__k=null),u2=n.__k?T(n,0):null),u2=ue(_3,I(L)?L:[L],e2,n,r,l2,t,i3,u2,p2,m3),g4.__P&&(e2.__e=null,u2=s3),e2.__u&=-161,v3&&v3.some(W),o2.__h.length&&
i3.push(o2),1&o2.__g&&(o2.__g&=-4)}catch(w3){if(i3.length=d4,e2.__v=null,p2||t)if(w3&&w3.then){if(e2.__u|=128|p2,t){for(~(C2=t.indexOf(u2||void 0))||(C2=t.length);(U3=
t[C2-1])&&U3.nodeType==8;)C2--;for(;C2<t.length;C2++)if(U3=t[C2])if(t[C2]=null,M3){if(U3==Z2)break}else{if(U3.nodeType!=8)break;U3.data.startsWith("$s")&&(Z2=z(
M3=U3))}}if(!M3){for(;u2&&u2.nodeType==8&&u2.nextSibling;)u2=u2.nextSibling;M3=u2}(s3=z(M3=e2.__c.__z||(e2.__c.__z=M3)))?(e2.__e=M3,u2=s3):e2.__e=u2,u2=u2&&u2.nextSibling}else
t&&t.some(W);else e2.__e=n.__e;e2.__k||(e2.__k=n.__k||[]),w3&&w3.then||pe(e2),h.__e(w3,e2,n)}}else u2=e2.__e=we(n.__e,e2,n,r,l2,t,i3,p2,m3,_3);return(s3=h.diffed)&&
s3(e2),u2}function z(_3,e2){if(_3&&_3.nodeType==8&&_3.data.startsWith("$s"))for(var n=1;_3=_3.nextSibling;){if(_3.nodeType==8){if(_3.data.startsWith("$s"))n++;else if(_3.
data.startsWith("/$s")&&!--n)return _3}e2&&e2.push(_3)}}function pe(_3){_3&&(_3.__c&&(_3.__c.__g|=4),_3.__k&&_3.__k.some(pe))}function ae(_3,e2,n){for(var r=0;r<
n.length;)Q(n[r++],n[r++],n[r++]);h.__c&&h.__c(e2,_3),_3.some(function(l2){try{_3=l2.__h,l2.__h=[],_3.some(function(t){t.call(l2)})}catch(t){h.__e(t,l2.__v)}})}
function we(_3,e2,n,r,l2,t,i3,u2,p2,m3){var s3,v3,d4,o2,c3,k3,a3,g4,f2=n.props||F,b3=e2.props,y4=e2.type;if(y4=="svg"?l2="http://www.w3.org/2000/svg":y4=="math"?
l2="http://www.w3.org/1998/Math/MathML":l2||(l2="http://www.w3.org/1999/xhtml"),t){for(s3=0;s3<t.length;s3++)if((c3=t[s3])&&(y4?c3.localName==y4:c3.nodeType==3)){
_3=c3,t[s3]=null;break}}if(!_3){if(g4=m3.ownerDocument||document,!y4)return g4.createTextNode(b3);_3=g4.createElementNS(l2,y4,b3.is?b3:m3),u2&&(h.__m&&h.__m(e2,
t),u2=!1),t=null}if(y4){if(m3=y4=="template"&&_3.content||_3,t=y4=="textarea"&&b3.defaultValue!=null?null:t&&j.call(m3.childNodes),!u2&&t)for(f2={},s3=0;s3<_3.attributes.
length;s3++)f2[(c3=_3.attributes[s3]).name]=c3.value;for(s3 in f2)c3=f2[s3],s3=="dangerouslySetInnerHTML"?d4=c3:s3=="children"||s3 in b3||s3=="value"&&"defaultV\
alue"in b3||s3=="checked"&&"defaultChecked"in b3||B(_3,s3,null,c3,l2);for(s3 in b3)c3=b3[s3],s3=="children"?o2=c3:s3=="dangerouslySetInnerHTML"?v3=c3:s3=="value"?
k3=c3:s3=="checked"?a3=c3:u2&&typeof c3!="function"||f2[s3]===c3||B(_3,s3,c3,f2[s3],l2);v3?(u2||d4&&(v3.__html==d4.__html||v3.__html==_3.innerHTML)||(_3.innerHTML=
v3.__html),e2.__k=[]):(d4&&(_3.textContent=""),(y4=="foreignObject"||l2=="http://www.w3.org/1998/Math/MathML"&&de.test(y4))&&(l2="http://www.w3.org/1999/xhtml"),
ue(m3,I(o2)?o2:[o2],e2,n,r,l2,t,i3,t?t[0]:n.__k&&T(n,0),u2,p2),t&&t.some(W)),u2&&y4!="textarea"||(s3="value",y4=="progress"&&k3==null?_3.removeAttribute(s3):k3==
null||k3===_3[s3]&&(y4!="progress"||k3)||B(_3,s3,k3,f2[s3],l2),s3="checked",a3!=null&&a3!=_3[s3]&&B(_3,s3,a3,f2[s3],l2))}else f2===b3||u2&&_3.data==b3||(_3.data=
b3);return _3}function Q(_3,e2,n,r){try{typeof _3=="function"?e2?e2.__x=_3(e2)||1:r&&(r=r.__c||r.__e)&&(e2=r.__x)&&(r.__x=null,typeof e2=="function"?e2():_3(null)):
_3.current=e2}catch(l2){h.__e(l2,n)}}function X(_3,e2,n){var r,l2,t,i3;if(h.unmount&&h.unmount(_3),!(r=_3.ref)||r.current&&r.current!=_3.__e||Q(r,null,e2,_3),r=
_3.__c){if(r.componentWillUnmount)try{r.componentWillUnmount()}catch(u2){h.__e(u2,e2)}r.__P=r.__n=null}if(r=_3.__k)for(i3=0;i3<r.length;i3++)r[i3]&&X(r[i3],e2,typeof _3.
type!="function"||n&&!_3.props.__P);!n&&(r=_3.__c)&&(r=r.__z)&&(l2=z(r,t=[]))&&(r==_3.__e&&t.some(W),W(l2),W(r)),n||W(_3.__e),_3.__e=_3.__c=_3.__=null}function xe(_3,e2,n){
return this.constructor(_3,n)}function he(_3,e2){var n,r,l2,t;h.__&&h.__(_3,e2),e2.nodeType==9&&(e2=e2.documentElement),r=(n=_3&&32&_3.__u)?null:e2.__k,e2.__k=D(
$,{children:[_3]}),l2=[],t=[],K(e2,e2.__k,r||F,F,e2.namespaceURI,r?null:e2.firstChild?j.call(e2.childNodes):null,l2,r?r.__e:e2.firstChild,n,t),ae(l2,e2.__k,t),e2.
__k.props.children=null}h={__e:function(_3,e2,n,r){for(var l2,t,i3;e2=e2.__;)if((l2=e2.__c)&&!(1&l2.__g)){l2.__g|=4;try{if((i3=(t=l2.constructor)&&t.getDerivedStateFromError)&&l2.setState(
t.getDerivedStateFromError(_3)),l2.componentDidCatch&&(l2.componentDidCatch(_3,r||{}),i3=1),i3&&8&l2.__g)return void(l2.__g|=2)}catch(u2){_3=u2}}throw A=0,_3}},
ee=0,_e=function(_3){return _3!=null&&_3.constructor===N},E.prototype.setState=function(_3,e2){var n=this.__s;n&&n!=this.state||(n=this.__s=P({},this.state)),typeof _3==
"function"&&(_3=_3(P({},n),this.props)),_3&&(P(n,_3),this.__v&&(e2&&this.__k.push(e2),J(this)))},E.prototype.forceUpdate=function(_3){this.__v&&(this.__g|=4,_3&&
this.__h.push(_3),J(this))},E.prototype.render=$,S=[],A=0,ne=function(_3,e2){return _3.__v.__b-e2.__v.__b},R=Symbol(),te=/(PointerCapture)$|Capture$/i,q=0,G={},
oe=0;var i,e,d,A2,H2=Object.is,a=0,D2=[],y=[],o=h,F2=o.__b,k=o.__r,q2=o.diffed,x=o.__c,E2=o.unmount,T2=o.__;function c(_3,t){o.__h&&o.__h(e,_3,a||t),a=0;var n=e.__H||
(e.__H={__:[],__h:[]});return _3>=n.__.length&&n.__.push({}),n.__[_3]}function w(_3){return a=1,V2(O,_3)}function V2(_3,t,n){var u2=c(i++,2);if(u2.t=_3,!u2.__c&&
(u2.__=[n?n(t):O(void 0,t),function(f2){var h2=(u2.__N||u2.__)[0],m3=u2.t(h2,f2);H2(h2,m3)||(u2.__N=[m3,u2.__[1]],u2.__c.setState({}))}],u2.__c=e,!e.__f)){e.__f=
!0;var r=e.shouldComponentUpdate;e.shouldComponentUpdate=function(f2,h2,m3){var C2=this.__H;if(!C2)return!0;var v3=!1,l2=this.props!=f2;if(C2.__.some(function(p2){
p2.__N&&(v3=!0,H2(p2.__[0],p2.__N[0])||(l2=!0))}),r){var N3=r.call(this,f2,h2,m3);return v3?N3||l2:N3}return!v3||l2}}return u2.__}function S2(_3,t){var n=c(i++,
3);!o.__s&&P2(n.__H,t)&&(n.__P=!0,n.__=_3,n.u=t,e.__H.__h.push(n))}function j2(_3,t){var n=c(i++,4);!o.__s&&P2(n.__H,t)&&(n.__P=!1,n.__=_3,n.u=t,e.__h.push(n))}
function U(_3){return a=5,b(function(){return{current:_3}},[])}function b(_3,t){var n=c(i++,7);return P2(n.__H,t)&&(n.__=_3(),n.__H=t),n.__}function Q2(){var _3;do{for(;_3=y.shift();)try{s(_3)}catch(n){o.__e(n,{__:(_3=_3.__P)&&_3.__v})}for(;_3=D2.shift();){var t=_3.__H;if(_3.__P&&t)try{t.__h.some(s),
t.__h.some(g),t.__h=[]}catch(n){t.__h=[],o.__e(n,_3.__v)}}}while(y.length)}o.__b=function(_3){e=null,F2&&F2(_3)},o.__=function(_3,t){_3&&t.__k&&t.__k.__m&&(_3.__m=
t.__k.__m),T2&&T2(_3,t)},o.__r=function(_3){k&&k(_3),i=0;var t=(e=_3.__c).__H;t&&(d==e?e.__h=[]:(t.__h.some(s),t.__h.some(g),i=0),t.__h=[],t.__.some(function(n){
n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),d=e},o.diffed=function(_3){q2&&q2(_3);var t=_3.__c;t&&t.__H&&(t.__H.__h.length&&I2(D2.push(t)),t.__H.__.some(function(n){
n.u&&(n.__H=n.u)})),d=e=null},o.__c=function(_3,t){t.some(function(n){try{n.__h.some(s),n.__h=n.__h.filter(function(u2){return!u2.__||g(u2)})}catch(u2){n.__h=[function(){
throw u2}]}}),x&&x(_3,t)},o.unmount=function(_3){E2&&E2(_3);var t,n,u2=_3.__c;u2&&u2.__H&&(u2.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=
_3.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,I2(y.push(r))}else s(r)}catch(f2){t=f2}}),u2.__H=void 0,t&&o.__e(t,u2.__v))};var B2=typeof requestAnimationFrame==
"function";function W2(_3){var t,n=function(){clearTimeout(u2),B2&&cancelAnimationFrame(t),setTimeout(_3)},u2=setTimeout(n,35);B2&&(t=requestAnimationFrame(n))}
function I2(_3){_3!=1&&A2==o.requestAnimationFrame||((A2=o.requestAnimationFrame)||W2)(Q2)}function s(_3){var t=e,n=_3.__c;typeof n=="function"&&(_3.__c=void 0,
n()),e=t}function g(_3){var t=e;_3.__c=_3.__(),e=t}function P2(_3,t){return!_3||_3.length!=t.length||t.some(function(n,u2){return!H2(n,_3[u2])})}function O(_3,t){
return typeof t=="function"?t(_3):t}var W3=Symbol.for("preact-signals");function y2(){if(u>1)u--;else{var t,i3=!1;for((function(){var r=w2;for(w2=void 0;r!==void 0;){var h2=r.S;if(h2.v===r.v)for(var e2=h2.
t;e2!==void 0;e2=e2.x)e2.i===r.i&&(e2.i=h2.i);r=r.o}})();p!==void 0;){var o2=p;for(p=void 0,S3++;o2!==void 0;){var n=o2.u;if(o2.u=void 0,o2.f&=-3,!(8&o2.f)&&E3(
o2))try{o2.c()}catch(r){i3||(t=r,i3=!0)}o2=n}}if(S3=0,u--,i3)throw t}}function g2(t){if(u>0)return t();x2=++Z,u++;try{return t()}finally{y2()}}var v,f=void 0;function l(t){
var i3=f,o2=v;f=void 0,v=void 0;try{return t()}finally{f=i3,v=o2}}var p=void 0,u=0,S3=0,Z=0,x2=0,w2=void 0,b2=0;function m(t){if(f!==void 0){var i3=t.n;if(i3===
void 0||i3.t!==f)return i3={i:0,S:t,p:f.s,n:void 0,t:f,e:void 0,x:void 0,r:i3},f.s!==void 0&&(f.s.n=i3),f.s=i3,t.n=i3,32&f.f&&t.S(i3),i3;if(i3.i===-1)return i3.
i=0,i3.n!==void 0&&(i3.n.p=i3.p,i3.p!==void 0&&(i3.p.n=i3.n),i3.p=f.s,i3.n=void 0,f.s.n=i3,f.s=i3),i3}}function s2(t,i3){this.v=t,this.i=0,this.n=void 0,this.t=
void 0,this.l=0,this.W=i3?.watched,this.Z=i3?.unwatched,this.name=i3?.name}s2.prototype.brand=W3,s2.prototype.h=function(){return!0},s2.prototype.S=function(t){
var i3=this,o2=this.t;o2!==t&&t.e===void 0&&(t.x=o2,this.t=t,o2!==void 0?o2.e=t:l(function(){var n;(n=i3.W)==null||n.call(i3)}))},s2.prototype.U=function(t){var i3=this;
if(this.t!==void 0){var o2=t.e,n=t.x;o2!==void 0&&(o2.x=n,t.e=void 0),n!==void 0&&(n.e=o2,t.x=void 0),t===this.t&&(this.t=n,n===void 0&&l(function(){var r;(r=i3.
Z)==null||r.call(i3)}))}},s2.prototype.subscribe=function(t){var i3=this;return k2(function(){var o2=i3.value;l(function(){return t(o2)})},{name:"sub"})},s2.prototype.
valueOf=function(){return this.value},s2.prototype.toString=function(){return this.value+""},s2.prototype.toJSON=function(){return this.value},s2.prototype.peek=
function(){var t=this;return l(function(){return t.value})},Object.defineProperty(s2.prototype,"value",{get:function(){var t=m(this);return t!==void 0&&(t.i=this.
i),this.v},set:function(t){if(t!==this.v){if(S3>100)throw new Error("Cycle detected");(function(o2){u!==0&&S3===0&&o2.l!==x2&&(o2.l=x2,w2={S:o2,v:o2.v,i:o2.i,o:w2})})(
this),this.v=t,this.i++,b2++,u++;try{for(var i3=this.t;i3!==void 0;i3=i3.x)i3.t.N()}finally{y2()}}}});function D3(t,i3){return new s2(t,i3)}function E3(t){for(var i3=t.
s;i3!==void 0;i3=i3.n)if(i3.S.i!==i3.i||!i3.S.h()||i3.S.i!==i3.i)return!0;return!1}function U2(t){for(var i3=t.s;i3!==void 0;i3=i3.n){var o2=i3.S.n;if(o2!==void 0&&
(i3.r=o2),i3.S.n=i3,i3.i=-1,i3.n===void 0){t.s=i3;break}}}function C(t){for(var i3=t.s,o2=void 0;i3!==void 0;){var n=i3.p;i3.i===-1?(i3.S.U(i3),n!==void 0&&(n.n=
i3.n),i3.n!==void 0&&(i3.n.p=n)):o2=i3,i3.S.n=i3.r,i3.r!==void 0&&(i3.r=void 0),i3=n}t.s=o2}function a2(t,i3){s2.call(this,void 0,i3),this.x=t,this.s=void 0,this.
g=b2-1,this.f=4}a2.prototype=new s2,a2.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===b2))return!0;if(this.g=b2,
this.f|=1,this.i>0&&!E3(this))return this.f&=-2,!0;var t=f;try{U2(this),f=this;var i3=this.x();(16&this.f||this.v!==i3||this.i===0)&&(this.v=i3,this.f&=-17,this.
i++)}catch(o2){this.v=o2,this.f|=16,this.i++}return f=t,C(this),this.f&=-2,!0},a2.prototype.S=function(t){if(this.t===void 0){this.f|=36;for(var i3=this.s;i3!==
void 0;i3=i3.n)i3.S.S(i3)}s2.prototype.S.call(this,t)},a2.prototype.U=function(t){if(this.t!==void 0&&(s2.prototype.U.call(this,t),this.t===void 0)){this.f&=-33;
for(var i3=this.s;i3!==void 0;i3=i3.n)i3.S.U(i3)}},a2.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var t=this.t;t!==void 0;t=t.x)t.t.N()}},Object.defineProperty(
a2.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var t=m(this);if(this.h(),t!==void 0&&(t.i=this.i),16&this.f)throw this.v;return this.
v}});function J2(t,i3){return new a2(t,i3)}function N2(t){var i3=t.j;if(t.j=void 0,typeof i3=="function"){u++;var o2=f;f=void 0;try{i3()}catch(n){throw t.f&=-2,
t.f|=8,j3(t),n}finally{f=o2,y2()}}}function j3(t){for(var i3=t.s;i3!==void 0;i3=i3.n)i3.S.U(i3);t.x=void 0,t.s=void 0,N2(t)}function M(t){if(f!==this)throw new Error(
"Out-of-order effect");C(this),f=t,this.f&=-2;try{8&this.f&&j3(this)}finally{y2()}}function d2(t,i3){this.x=t,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,
this.name=i3?.name,v&&v.push(this)}d2.prototype.c=function(){var t=this.S();try{if(8&this.f||this.x===void 0)return;var i3=this.x();typeof i3=="function"&&(this.
j=i3)}finally{t()}},d2.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,N2(this),U2(this),u++;var t=f;return f=this,M.bind(
this,t)},d2.prototype.N=function(){2&this.f||(this.f|=2,this.u=p,p=this)},d2.prototype.d=function(){this.f|=8,1&this.f||j3(this)},d2.prototype.dispose=function(){
this.d()};function k2(t,i3){var o2=new d2(t,i3);try{o2.c()}catch(r){throw o2.d(),r}var n=o2.d.bind(o2);return n[Symbol.dispose]=n,n}var g3,c2,y3,V3=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var q3=[];k2(function(){g3=this.N})();function v2(i3,e2){h[i3]=e2.bind(null,h[i3]||function(){})}function d3(i3){if(y3){var e2=y3;y3=void 0,e2()}y3=i3&&i3.S()}function E4(i3){
var e2=this,n=i3.data,t=F3(n);t.name="ReactiveDom",t.value=n;var o2=b(function(){for(var a3=e2,_3=e2.__v;_3=_3.__;)if(_3.__c){_3.__c.__$f|=4;break}var f2=J2(function(){
var l2=t.value.value;return l2===0?0:l2===!0?"":l2||""}),s3=J2(function(){return!Array.isArray(f2.value)&&!_e(f2.value)}),R2=k2(function(){if(this.N=M2,s3.value){
var l2=f2.value;a3.__v&&a3.__v.__e&&a3.__v.__e.nodeType===3&&(a3.__v.__e.data=l2)}}),U3=e2.__$u.d;return e2.__$u.d=function(){R2(),U3.call(this)},[s3,f2]},[]),r=o2[0],
u2=o2[1];return r.value?u2.peek():u2.value}E4.displayName="ReactiveTextNode",Object.defineProperties(s2.prototype,{constructor:{configurable:!0,value:re($,null).
constructor},type:{configurable:!0,value:E4},props:{configurable:!0,get:function(){var i3=this;return{data:{get value(){return i3.value}}}}},__b:{configurable:!0,
value:1}}),v2("__b",function(i3,e2){if(d3(),c2=void 0,typeof e2.type=="string"){var n,t=e2.props;for(var o2 in t)if(o2!=="children"){var r=t[o2];r instanceof s2&&
(n||(e2.__np=n={}),n[o2]=r,t[o2]=r.peek())}}i3(e2)}),v2("__r",function(i3,e2){if(i3(e2),e2.type!==$){d3();var n,t=e2.__c;t&&(t.__$f&=-2,(n=t.__$u)===void 0&&(t.
__$u=n=(function(o2,r){var u2;return k2(function(){u2=this},{name:r}),u2.c=o2,u2})((function(o2){return function(){var r;V3&&((r=this.y)==null||r.call(this)),o2.
__$f|=1,o2.setState({})}})(t),typeof e2.type=="function"?e2.type.displayName||e2.type.name:""))),c2=t,d3(n)}}),v2("__e",function(i3,e2,n,t){d3(),c2=void 0,i3(e2,
n,t)}),v2("diffed",function(i3,e2){d3(),c2=void 0;var n;if(typeof e2.type=="string"&&(n=e2.__e)){var t=e2.__np,o2=e2.props,r=n.U;if(r)for(var u2 in r){var a3=r[u2];
a3===void 0||t&&u2 in t||(a3.d(),r[u2]=void 0)}if(t){r||(r={},n.U=r);for(var _3 in t){var f2=r[_3],s3=t[_3];f2===void 0?(f2=D4(n,_3,s3,o2),r[_3]=f2):f2.o(s3,o2)}}}
i3(e2)});function D4(i3,e2,n,t){var o2=e2 in i3&&i3.ownerSVGElement===void 0,r=D3(n);return{o:function(u2,a3){r.value=u2,t=a3},d:k2(function(){this.N=M2;var u2=r.
value.value;t[e2]!==u2&&(t[e2]=u2,o2?i3[e2]=u2:u2!=null&&(u2!==!1||e2[4]==="-")?i3.setAttribute(e2,u2):i3.removeAttribute(e2))})}}v2("unmount",function(i3,e2){if(typeof e2.
type=="string"){var n=e2.__e;if(n){var t=n.U;if(t){n.U=void 0;for(var o2 in t){var r=t[o2];r&&r.d()}}}var u2=e2.__np;if(u2){var a3=e2.props;for(var _3 in u2)a3[_3]=
u2[_3]}e2.__np=void 0}else{var f2=e2.__c;if(f2){f2.__$f|=8;var s3=f2.__$u;s3&&(f2.__$u=void 0,s3.d())}}i3(e2)}),v2("__h",function(i3,e2,n,t){t<3&&(e2.__$f|=2),i3(
e2,n,t)}),E.prototype.shouldComponentUpdate=function(i3,e2){if(this.__R)return!0;var n=this.__$u,t=n&&n.s!==void 0;for(var o2 in e2)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var r=2&this.__$f;if(!(t||r||4&this.__$f)||1&this.__$f)return!0}else if(!(t||4&this.__$f)||3&this.__$f)return!0;for(var u2 in i3)if(u2!==
"__source"&&i3[u2]!==this.props[u2])return!0;for(var a3 in this.props)if(!(a3 in i3))return!0;return!1};function F3(i3,e2){return b(function(){return D3(i3,e2)},
[])}var P3=function(i3){queueMicrotask(function(){queueMicrotask(i3)})};function z2(){g2(function(){for(var i3;i3=q3.shift();)g3.call(i3)})}function M2(){q3.push(this)===1&&(h.requestAnimationFrame||P3)(z2)}var own={header:"X-Tollgate-Console"},ended=D3(!1),Failure=class extends Error{constructor(status,message,body={},text=""){super(message);this.status=status;this.
body=body;this.text=text}status;body;text;get kind(){return this.body?.cause??""}get problems(){return this.body?.problems??[]}};async function ask(method,path,body,options={}){
let headers={[own.header]:"1",...options.headers};options.byItself&&(headers["X-Tollgate-Idle"]="1");let content;body!==void 0&&(headers["Content-Type"]??="appl\
ication/json",content=typeof body=="string"?body:JSON.stringify(body));let response;try{response=await fetch(`api/${path}`,{method,headers,body:content,signal:options.
signal,credentials:"same-origin",cache:"no-store"})}catch(error){throw options.signal?.aborted?error:new Failure(0,"The gateway does not answer. It may be resta\
rting, or the connection is down.")}let text=await response.text(),value=text;try{value=JSON.parse(text)}catch{}if(response.ok)return{value,etag:response.headers.
get("etag"),text};let failure=new Failure(response.status,words(response.status,value),value,text);throw failure.kind==="signed_out"&&path!=="session"&&(ended.value=
!0),failure}async function call(method,path,body,options){return(await ask(method,path,body,options)).value}var get=(path,options)=>call("GET",path,void 0,options);
function words(status,value){if(typeof value=="object"&&value){let said2=value.message??value.error;if(typeof said2=="string"&&said2)return said2}return typeof value==
"string"&&value.trim()&&value.length<200?value.trim():`The gateway answered with status ${status}.`}var segment=text=>encodeURIComponent(text);var _2=Symbol.for("pv"),m2=0;function i2(t,e2,n,o2,r,f2){e2||(e2={});var a3,l2,u2=e2;if("ref"in u2&&typeof t!="function")for(l2 in u2={},e2)l2=="ref"?a3=e2[l2]:u2[l2]=e2[l2];var s3={type:t,
props:u2,key:n,ref:a3,__k:null,__:null,__b:0,__e:null,__c:null,constructor:_2,__v:--m2,__i:-1,__u:0};return(r||f2)&&(s3.__source=r,s3.__self=f2),h.vnode&&h.vnode(
s3),s3}var PATHS={overview:"M2 9l3-4 3 3 3-5 3 4M2 13.5h12",api:"M2 4.5h12M2 8h12M2 11.5h12M5 3v3M10 6.5v3M7 10v3",key:"M10.5 2a3.5 3.5 0 1 1-2.6 5.9L2.5 13.3h2.7v-2h2\
v-2M11 5.4v.1",policy:"M8 1.7l5.2 2v4.1c0 3.2-2.2 5.4-5.2 6.5-3-1.1-5.2-3.3-5.2-6.5v-4.1zM5.8 8l1.6 1.6 2.9-3.1",client:"M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 \
8 8zM2.8 14c.4-2.6 2.4-4 5.2-4s4.8 1.4 5.2 4",certificate:"M3 2.5h10v7H3zM5 5h6M5 7h3M10.5 9.5v4.5l-1.5-1-1.5 1V9.5",usage:"M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6\
M13.5 13.5v-11",model:"M8 1.8l1.5 4.7 4.7 1.5-4.7 1.5-1.5 4.7-1.5-4.7-4.7-1.5 4.7-1.5zM12.8 1.8v2.4M11.6 3h2.4",portal:"M2 3h12v10H2zM2 6h12M4 4.5h.1M5.8 9.5h4.\
4M8 8v3",tail:"M2 3.5h8M2 7h12M2 10.5h9M2 14h5",system:"M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.1M5 11.3h.1M8 4.8h3M8 11.3h3",search:"M7 12A5 5 0 1 0 7 2a\
5 5 0 0 0 0 10zM10.6 10.6L14 14",close:"M3.5 3.5l9 9M12.5 3.5l-9 9",menu:"M2 4h12M2 8h12M2 12h12",plus:"M8 3v10M3 8h10",sun:"M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8\
 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.900.9M11.7 11.7l.900.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",moon:"M13 9.7A5.6 5.6 0 0 1 6.3 3a5.6 5.6\
 0 1 0 6.7 6.7z",alert:"M8 2L1.8 13.2h12.4zM8 6.2v3.3M8 11.4v.1",ok:"M3 8.5l3.2 3.2L13 4.8",info:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.1",right:"M\
6 3.5L10.5 8 6 12.5",down:"M3.5 6L8 10.5 12.5 6",up:"M3.5 10L8 5.5 12.5 10",copy:"M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",edit:"M10.5 2.8l2.7 2.7L6 12.7l-3.300.600\
.6-3.3z",play:"M4.5 2.8l8.5 5.2-8.5 5.2z",pause:"M5 3v10M11 3v10",trash:"M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",clock:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12\
zM8 4.8V8l2.3 1.5",undo:"M6 3L2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",redo:"M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",out:"M6.5 2.5h-4v11h4M10 5l\
3 3-3 3M13 8H6",table:"M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 3v10",download:"M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",more:"M3 8h.1M8 8h.1M13 8h.1",refresh:"\
M13 8a5 5 0 1 1-1.5-3.6L13.5 6M13.5 2.5V6H10"};function Icon({name}){return i2("svg",{class:"icon",viewBox:"0 0 16 16","aria-hidden":"true",focusable:"false",children:i2(
"path",{d:PATHS[name]})})}var SHOWN_MAX=4,SHOWN_MS=6e3,said=D3([]),last=0;function say(tone,words2){let id=++last;said.value=[...said.value,{id,tone,words:words2}].slice(-SHOWN_MAX),tone===
"ok"&&setTimeout(()=>drop(id),SHOWN_MS)}function drop(id){said.value=said.value.filter(one=>one.id!==id)}function Toasts(){return i2("div",{class:"toasts","aria\
-live":"polite",children:said.value.map(one=>i2("div",{class:`toast ${one.tone}`,children:[i2(Icon,{name:one.tone==="ok"?"ok":"alert"}),i2("div",{children:one.words}),
i2("button",{type:"button","aria-label":"Dismiss",onClick:()=>drop(one.id),children:i2(Icon,{name:"close"})})]},one.id))})}var facts=D3(null),developer=D3(null),ownKeys=D3([]),toldTools=D3([]),silent=D3(null),pages=D3([]);async function load(){try{enter(await get("session"))}catch(failure){
silent.value=failure.message}}function enter(state){silent.value=null,ended.value=!1,facts.value=state.portal,state.developer?.id!==developer.value?.id&&(ownKeys.
value=[],toldTools.value=[]),developer.value=state.developer,get("pages").then(found=>{pages.value=found.pages},()=>{})}async function signOut(){let place=null;
try{place=(await call("DELETE","session")).go_to}finally{place?location.assign(place):(location.hash="#/",location.reload())}}function base(api){let gateway=new URL(
facts.value?.gateway_url??location.origin);return api.host&&(gateway.hostname=api.host),gateway.origin+api.listen_path.replace(/\/*$/,"/")}function parse(){let[path="",rest=""]=location.hash.replace(/^#\/?/,"").split("?",2);return{parts:path.split("/").filter(Boolean).map(part=>{try{return decodeURIComponent(
part)}catch{return part}}),query:new URLSearchParams(rest)}}var route=D3(parse()),guard=D3(null),shown=location.hash;addEventListener("hashchange",()=>{if(location.
hash!==shown){if(guard.value&&!guard.value()){history.replaceState(null,"",shown||"#/");return}guard.value=null,shown=location.hash,route.value=parse(),scrollTo(
0,0)}});function link(parts2,members={}){let pairs=Object.entries(members).filter(([,value])=>value);return`#/${parts2.map(encodeURIComponent).join("/")}${pairs.
length?`?${new URLSearchParams(pairs)}`:""}`}function go(to){location.hash=to.replace(/^#/,"")}var UNKNOWN="-",utc=D3(localStorage.getItem("utc")==="yes");utc.subscribe(yes=>localStorage.setItem("utc",yes?"yes":"no"));var grouped=new Intl.NumberFormat("en\
-US",{maximumFractionDigits:0});function count(value){return value==null?UNKNOWN:grouped.format(value)}function duration(us){return us==null?UNKNOWN:us===0?"0":us<1?`${Math.round(us*1e3)} ns`:us<1e3?`${digits(us)} us`:us<1e6?`${digits(us/1e3)} ms`:us<6e7?`${digits(
us/1e6)} s`:span(us/1e6)}function digits(value){return value>=99.5?grouped.format(value):String(Number(value.toPrecision((value>=9.95,2))))}function bytes(value){if(value==null)return UNKNOWN;
let units=["B","KiB","MiB","GiB","TiB"],at=0,rest=value;for(;rest>=1024&&at<units.length-1;)rest/=1024,at+=1;return`${at&&rest<10?rest.toFixed(1):Math.round(rest)}\
 ${units[at]}`}function span(seconds){let whole=Math.max(0,Math.round(seconds)),parts2=[[Math.floor(whole/86400),"d"],[Math.floor(whole/3600)%24,"h"],[Math.floor(
whole/60)%60,"min"],[whole%60,"s"]],first=parts2.findIndex(([amount])=>amount>0);return first<0?"0 s":parts2.slice(first,first+(first===0&&parts2[0][0]>9?1:2)).
filter(([amount])=>amount>0).map(([amount,unit])=>`${amount} ${unit}`).join(" ")}var two=value=>String(value).padStart(2,"0");function parts(unixS){let date2=new Date(
unixS*1e3);return utc.value?{y:date2.getUTCFullYear(),mo:date2.getUTCMonth()+1,d:date2.getUTCDate(),h:date2.getUTCHours(),mi:date2.getUTCMinutes(),s:date2.getUTCSeconds()}:
{y:date2.getFullYear(),mo:date2.getMonth()+1,d:date2.getDate(),h:date2.getHours(),mi:date2.getMinutes(),s:date2.getSeconds()}}function offset(unixS=Date.now()/1e3){
if(utc.value)return"UTC";let minutes=-new Date(unixS*1e3).getTimezoneOffset();return`${minutes<0?"-":"+"}${two(Math.floor(Math.abs(minutes)/60))}:${two(Math.abs(
minutes)%60)}`}function clock(unixS,seconds=!1){if(unixS==null||!Number.isFinite(unixS))return UNKNOWN;let{h:h2,mi,s:s3}=parts(unixS);return`${two(h2)}:${two(mi)}${seconds?
`:${two(s3)}`:""}`}function date(unixS){if(unixS==null||!Number.isFinite(unixS))return UNKNOWN;let{y:y4,mo,d:d4}=parts(unixS);return`${y4}-${two(mo)}-${two(d4)}`}function full(unixS){return unixS==null||!Number.isFinite(unixS)?UNKNOWN:`${date(unixS)} ${clock(unixS,!0)} ${offset(unixS)}`}function ago(unixS){if(unixS==null)
return UNKNOWN;let seconds=Date.now()/1e3-unixS;if(Math.abs(seconds)<1)return"now";let text=span(Math.abs(seconds)).split(" ").slice(0,2).join(" ");return seconds<
0?`in ${text}`:`${text} ago`}function visible(text){return String(text??"").replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
character=>`⟨${character.charCodeAt(0).toString(16).padStart(2,"0").toUpperCase()}⟩`)}function shell(text){return`'${text.replaceAll("'","'\\''")}'`}function Badge({tone,children,title}){return i2("span",{class:`badge ${tone}`,title,children})}function Button({icon,children,kind="plain",...rest}){return i2("\
button",{type:"button",...rest,class:`button ${kind} ${children?"":"square"} ${rest.class??""}`,children:[icon&&i2(Icon,{name:icon}),children]})}function LinkButton({
icon,children,kind="plain",...rest}){return i2("a",{...rest,class:`button ${kind} ${rest.class??""}`,children:[icon&&i2(Icon,{name:icon}),children]})}function Panel({
title,note,actions,children,class:classes="",id}){return i2("section",{class:`panel ${classes}`,id,children:[title&&i2("header",{children:[i2("h2",{children:[title,
note&&i2("small",{children:note})]}),actions&&i2("div",{class:"actions",children:actions})]}),children]})}function Ago({at}){let[,again]=w(0);return S2(()=>{let timer=setInterval(
()=>again(turn=>turn+1),1e4);return()=>clearInterval(timer)},[]),at?i2("time",{title:full(at),children:ago(at)}):i2($,{children:UNKNOWN})}function Text({children,
mono}){let text=visible(children);return i2("bdi",{class:mono?"mono":void 0,children:text})}async function copy(text,what="Copied"){try{await navigator.clipboard.
writeText(text),say("ok",`${what}.`)}catch{say("bad","The browser does not allow copying here. Select the text and copy it by hand.")}}function Copy({text,label="\
Copy"}){return i2(Button,{icon:"copy",kind:"quiet","aria-label":label,title:label,onClick:()=>{copy(text)}})}function Empty({icon="info",title,children}){return i2(
"div",{class:"empty",children:[i2(Icon,{name:icon}),i2("strong",{children:title}),children&&i2("div",{children})]})}function ErrorBox({failure,retry,since}){let words2=failure instanceof
Error?failure.message:String(failure),role=failure instanceof Failure&&failure.kind==="role";return i2("div",{class:`note ${role?"warn":"bad"}`,role:"alert",children:[
i2(Icon,{name:"alert"}),i2("div",{children:[i2(Text,{children:words2}),since&&i2($,{children:[" Shown is the state of ",i2(Ago,{at:since}),"."]})]}),retry&&i2(Button,
{icon:"refresh",onClick:retry,children:"Retry"})]})}function Note({tone="muted",icon="info",children,actions}){return i2("div",{class:`note ${tone}`,children:[i2(
Icon,{name:icon}),i2("div",{children}),actions]})}function Meter({used,max,label}){let share=max>0?Math.min(1,Math.max(0,used/max)):0,tone=share>=1?"bad":share>=
.8?"warn":"ok";return i2("span",{class:"meter",title:label,children:[i2("span",{class:`bar ${tone}`,"aria-hidden":"true",children:i2("span",{style:{width:`${share*
100}%`}})}),i2("span",{children:[count(used)," of ",count(max)," used"]})]})}function Field({label,hint,error,children,wide}){return i2("label",{class:`field ${wide?
"wide":""} ${error?"invalid":""}`,children:[i2("span",{children:label}),children,error?i2("em",{class:"bad",role:"alert",children:error}):hint?i2("em",{children:hint}):
null]})}function Facts({children}){return i2("dl",{class:"facts",children})}function Fact({name,children}){return i2($,{children:[i2("dt",{children:name}),i2("d\
d",{children})]})}function Dialog({title,close,children,footer,wide,side}){let element=U(null);return j2(()=>{let dialog=element.current;if(!dialog?.isConnected)return;let before=document.
activeElement;return dialog.showModal(),()=>{dialog.close(),before?.focus?.()}},[]),i2("dialog",{ref:element,class:`${wide?"wide":""} ${side?"side":""}`,"aria-l\
abel":typeof title=="string"?title:void 0,onCancel:event=>{event.preventDefault(),close()},onMouseDown:event=>{event.target===element.current&&close()},children:i2(
"div",{class:"dialog",children:[i2("header",{children:[i2("h2",{children:title}),i2(Button,{icon:"close",kind:"quiet","aria-label":"Close",onClick:close})]}),i2(
"div",{class:"content",children}),footer&&i2("footer",{children:footer})]})})}function useLoaded(fetch2,depends){let[state,set]=w({value:null,failure:null,waiting:!0,at:null}),[turn,again]=w(0),first=U(depends[0]);return S2(()=>{let gone=!1;
return first.current!==depends[0]&&(first.current=depends[0],set({value:null,failure:null,waiting:!0,at:null})),fetch2().then(value=>{gone||set({value,failure:null,
waiting:!1,at:Date.now()/1e3})},failure=>{gone||set(old=>({...old,failure,waiting:!1}))}),()=>{gone=!0}},[...depends,turn]),{...state,again:()=>again(old=>old+1),
replace:value=>set({value,failure:null,waiting:!1,at:Date.now()/1e3})}}function saveFile(name,text,type="text/csv"){let link2=document.createElement("a");link2.href=URL.createObjectURL(new Blob([text],{type})),link2.download=name,link2.
click(),setTimeout(()=>URL.revokeObjectURL(link2.href),1e4)}export{$,E,he,w,S2 as S,U,b,D3 as D,k2 as k,own,ended,Failure,call,get,segment,i2 as i,say,Toasts,route,link,go,count,duration,bytes,full,visible,shell,Badge,Button,
LinkButton,Panel,Ago,Text,Copy,Empty,ErrorBox,Note,Meter,Field,Facts,Fact,facts,developer,ownKeys,toldTools,silent,pages,load,enter,signOut,base,Dialog,useLoaded,
saveFile};
